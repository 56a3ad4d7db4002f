//! Texts as words and signs, finished or not.

use crate::tokens::TokenKind::{self, *};
use crate::{Unfinished, is_unfinished, tokens};

fn shown(text: &str) -> Vec<(TokenKind, &str)> {
    tokens(text).map(|token| (token.kind, &text[token.range])).collect()
}

#[test]
fn a_statement_falls_into_words_and_signs() {
    let expected = vec![
        (Word, "MATCH"),
        (Sign('('), "("),
        (Word, "p"),
        (Sign(':'), ":"),
        (Quoted, "`a b`"),
        (Parameter, "$who"),
        (Text, "'it\\'s'"),
        (Sign(')'), ")"),
        (Comment, "-- so"),
        (Number, "1.5e3"),
        (Number, "1"),
        (Sign('.'), "."),
        (Sign('.'), "."),
        (Number, "3"),
    ];
    assert_eq!(shown("MATCH (p:`a b` $who 'it\\'s') -- so\n1.5e3 1..3"), expected);
    assert_eq!(shown("a-->b")[1..3], [(Sign('-'), "-"), (Sign('-'), "-")]);
    assert_eq!(shown("/* a */ // b"), [(Comment, "/* a */"), (Comment, "// b")]);
}

#[test]
fn what_is_not_finished_is_open_and_every_text_is_taken() {
    for text in ["'a", "\"a\\", "`a", "/* a", "-- a", "'ä"] {
        let tokens: Vec<_> = tokens(text).collect();
        assert_eq!((tokens.len(), tokens[0].is_open), (1, true), "{text}");
        assert_eq!(tokens[0].range, 0..text.len());
    }
    for text in ["", "$", "ä日本\u{301}€", "''", "/*/", "\u{0}"] {
        assert!(tokens(text).count() <= text.len());
    }
    assert!(tokens("''").all(|token| !token.is_open));
}

/// Line by line it says what it says of the whole.
#[test]
fn a_text_that_grows_is_looked_through_once() {
    let texts = [
        "RETURN 1;\n",
        "RETURN 'a\n;\n b';\n",
        "RETURN 'a\\\n';\n'\n;\n",
        "/* a\n; */\n-- 'b\n",
        "MATCH (`a\n;`)\n;",
        "RETURN \"it's\n\";\nRETURN\n2\n;\n",
        "-- ;\n",
        "RETURN 1 -- ;\n;\n",
        "\n\n;\n/*\n*/ RETURN 'ä\n",
        "// /*\n'*/\n';",
    ];
    for text in texts {
        let (mut grown, mut unfinished) = (String::new(), Unfinished::default());
        for line in text.split_inclusive('\n') {
            grown.push_str(line);
            assert_eq!(unfinished.is(&grown), is_unfinished(&grown), "{grown:?}");
        }
    }
}
