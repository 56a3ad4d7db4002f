use crate::parse;
#[test]
fn probe() {
    for text in std::fs::read_to_string("/tmp/mistakes.txt").unwrap().lines() {
        match parse(text) {
            Ok(_) => println!("OK   {text}"),
            Err(e) => println!("{text}\n     {} {:?} | {} | {}", e.span.start, &text[e.span.range()], e.message, e.help.unwrap_or_default()),
        }
    }
}
