//! The arguments, as the parser sees them.

use super::*;

#[test]
fn the_definition_is_consistent() {
    use clap::CommandFactory;
    Args::command().debug_assert();
}

#[test]
fn params_are_json_where_they_can_be() {
    let value = |text: &str| param(text).map(|(_, value)| value);
    assert_eq!(value("n=3"), Ok(Value::Int(3)));
    assert_eq!(value("n=-0.5"), Ok(Value::Float(-0.5)));
    assert_eq!(value("n=null"), Ok(Value::Null));
    assert_eq!(value("n=true"), Ok(Value::Bool(true)));
    assert_eq!(value("n=\"3\""), Ok(Value::String("3".to_owned())));
    assert_eq!(value("n=[1]"), Ok(Value::List(vec![Value::Int(1)])));
    for text in ["Nora", "01", "a=b", "", "{", "nan", "it's"] {
        let assigned = format!("n={text}");
        assert_eq!(value(&assigned), Ok(Value::String(text.to_owned())));
    }
    assert!(value("n").is_err());
    assert!(value("=3").is_err());
    assert!(value("n=9223372036854775808").is_err());
    assert_eq!(param("$n=3").map(|(name, _)| name), Ok("n".to_owned()));
}

#[test]
fn delimiters() {
    assert_eq!(delimiter("tab"), Ok(b'\t'));
    assert_eq!(delimiter("\\t"), Ok(b'\t'));
    assert_eq!(delimiter(";"), Ok(b';'));
    assert!(delimiter("").is_err());
    assert!(delimiter("ä").is_err());
}
