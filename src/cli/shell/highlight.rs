//! A statement in colours: keywords, texts, numbers, parameters, comments, labels and relations,
//! and the bracket that belongs to the one at the cursor.
//!
//! The characters stay the same; only colours are put between them.

use engraph::{Token, TokenKind, tokens};

/// Codes of ECMA-48 (select graphic rendition).
const KEYWORD: &str = "1;36";
const TEXT: &str = "32";
const NUMBER: &str = "33";
const PARAMETER: &str = "35";
const COMMENT: &str = "90";
const LABEL: &str = "94";
const BRACKET: &str = "1;4";

/// The text with colours; `cursor` is the byte that the cursor stands on, if brackets matter.
pub(super) fn highlight(text: &str, cursor: Option<usize>) -> String {
    let tokens: Vec<Token> = tokens(text).collect();
    let pair = cursor.and_then(|cursor| pair(&tokens, cursor));
    let mut out = String::with_capacity(text.len() * 2);
    let mut done = 0;
    for (index, token) in tokens.iter().enumerate() {
        out.push_str(&text[done..token.range.start]);
        let piece = &text[token.range.clone()];
        let is_paired = pair.is_some_and(|(one, other)| index == one || index == other);
        match if is_paired { Some(BRACKET) } else { code(text, &tokens, index) } {
            Some(code) => out.push_str(&format!("\u{1b}[{code}m{piece}\u{1b}[0m")),
            None => out.push_str(piece),
        }
        done = token.range.end;
    }
    out.push_str(&text[done..]);
    out
}

fn code(text: &str, tokens: &[Token], index: usize) -> Option<&'static str> {
    let token = &tokens[index];
    match token.kind {
        TokenKind::Text => Some(TEXT),
        TokenKind::Number => Some(NUMBER),
        TokenKind::Parameter => Some(PARAMETER),
        TokenKind::Comment => Some(COMMENT),
        TokenKind::Word | TokenKind::Quoted => match before(tokens, index) {
            Some(TokenKind::Sign('.')) => None,
            Some(TokenKind::Sign(':' | '|')) if is_filter(tokens, index) => Some(LABEL),
            _ if is_map_key(tokens, index) => None,
            _ => is_keyword(&text[token.range.clone()]).then_some(KEYWORD),
        },
        TokenKind::Sign(_) => None,
    }
}

/// Whether a word is a keyword, in any case.
pub(super) fn is_keyword(word: &str) -> bool {
    engraph::keywords().any(|keyword| keyword.eq_ignore_ascii_case(word))
}

fn before(tokens: &[Token], index: usize) -> Option<TokenKind> {
    index.checked_sub(1).and_then(|before| tokens.get(before)).map(|token| token.kind)
}

/// Whether a name after `:` or `|` is of a label or relation; within `{}` it is a value.
fn is_filter(tokens: &[Token], index: usize) -> bool {
    innermost(&tokens[..index]) != Some('{')
}

fn is_map_key(tokens: &[Token], index: usize) -> bool {
    let is_colon = tokens.get(index + 1).is_some_and(|token| token.kind == TokenKind::Sign(':'));
    is_colon && innermost(&tokens[..index]) == Some('{')
}

/// The bracket that is open after these tokens.
pub(super) fn innermost(tokens: &[Token]) -> Option<char> {
    let mut closed = 0_usize;
    for token in tokens.iter().rev() {
        match token.kind {
            TokenKind::Sign(')' | ']' | '}') => closed += 1,
            TokenKind::Sign(open @ ('(' | '[' | '{')) => match closed.checked_sub(1) {
                Some(left) => closed = left,
                None => return Some(open),
            },
            _ => {}
        }
    }
    None
}

/// The bracket at the cursor, or straight before it, and its partner.
fn pair(tokens: &[Token], cursor: usize) -> Option<(usize, usize)> {
    let bracket =
        |token: &Token| matches!(token.kind, TokenKind::Sign(sign) if "()[]{}".contains(sign));
    let at =
        |byte: usize| tokens.iter().position(|token| bracket(token) && token.range.start == byte);
    let index = at(cursor).or_else(|| at(cursor.checked_sub(1)?))?;
    let TokenKind::Sign(sign) = tokens[index].kind else { return None };
    let forward = |partner| partner_of(tokens[index..].iter(), sign, partner).map(|n| index + n);
    let backward =
        |partner| partner_of(tokens[..=index].iter().rev(), sign, partner).map(|n| index - n);
    let partner = match sign {
        '(' => forward(')'),
        '[' => forward(']'),
        '{' => forward('}'),
        ')' => backward('('),
        ']' => backward('['),
        _ => backward('{'),
    };
    Some((index, partner?))
}

fn partner_of<'t>(
    tokens: impl Iterator<Item = &'t Token>,
    sign: char,
    partner: char,
) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.enumerate() {
        match token.kind {
            TokenKind::Sign(found) if found == sign => depth += 1,
            TokenKind::Sign(found) if found == partner => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return Some(index);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coloured pieces with their codes.
    fn pieces(text: &str, cursor: Option<usize>) -> Vec<(String, String)> {
        let shown = highlight(text, cursor);
        // What stands before the first colour is no piece.
        let coloured = shown.split("\u{1b}[").skip(1).filter(|piece| !piece.starts_with("0m"));
        coloured
            .filter_map(|piece| piece.split_once('m'))
            .map(|(code, piece)| (piece.to_owned(), code.to_owned()))
            .collect()
    }

    fn codes(text: &str) -> Vec<(String, &'static str)> {
        let known = [KEYWORD, TEXT, NUMBER, PARAMETER, COMMENT, LABEL, BRACKET];
        let name = |code: String| known.into_iter().find(|known| **known == code).expect("known");
        pieces(text, None).into_iter().map(|(piece, code)| (piece, name(code))).collect()
    }

    fn owned<'a>(pieces: &[(&str, &'a str)]) -> Vec<(String, &'a str)> {
        pieces.iter().map(|&(piece, code)| (piece.to_owned(), code)).collect()
    }

    #[test]
    fn each_kind_has_its_colour() {
        let text = "match (p:Person|`Old one`)-[f:lives_in]->(c) WHERE p.source = 'x' \
                    AND n = 1.5 RETURN $to -- end";
        let expected = [
            ("match", KEYWORD),
            ("Person", LABEL),
            ("`Old one`", LABEL),
            ("lives_in", LABEL),
            ("WHERE", KEYWORD),
            ("'x'", TEXT),
            ("AND", KEYWORD),
            ("1.5", NUMBER),
            ("RETURN", KEYWORD),
            ("$to", PARAMETER),
            ("-- end", COMMENT),
        ];
        assert_eq!(codes(text), owned(&expected));
    }

    #[test]
    fn names_of_properties_are_no_keywords() {
        assert_eq!(codes("(:A {to: null})"), owned(&[("A", LABEL), ("null", KEYWORD)]));
        assert_eq!(codes("p.match"), []);
    }

    #[test]
    fn the_partner_of_a_bracket_is_shown() {
        let brackets = |text, cursor| {
            let pieces = pieces(text, Some(cursor)).into_iter();
            pieces.filter(|piece| piece.1 == BRACKET).map(|piece| piece.0).collect::<String>()
        };
        assert_eq!(brackets("((a)[1])", 0), "()");
        assert_eq!(brackets("((a)[1])", 5), "[]");
        assert_eq!(brackets("((a)[1])", 8), "()");
        assert_eq!(brackets("('(')", 5), "()");
        assert_eq!(brackets("(a", 0), "");
        assert_eq!(brackets("a)", 1), "");
    }

    #[test]
    fn without_the_colours_it_is_the_same_text() {
        for text in ["RETURN 'ä", "  (\n :日本) `", "", "/*", "a $ \u{301}"] {
            let shown = highlight(text, Some(1));
            let mut plain = String::new();
            for (index, piece) in shown.split("\u{1b}[").enumerate() {
                let rest = piece.split_once('m').map_or("", |(_, rest)| rest);
                plain.push_str(if index == 0 { piece } else { rest });
            }
            assert_eq!(plain, text);
        }
    }
}
