//! An object of a line of JSON: no name stands in it twice, and no number becomes another one.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

/// The object of a line.
///
/// # Errors
///
/// What is wrong with it, and where.
pub(super) fn object(line: &str) -> Result<Map<String, Json>, String> {
    check(line)?;
    match serde_json::from_str(line) {
        Ok(Once(Json::Object(fields))) => Ok(fields),
        Ok(_) => Err("no JSON object".to_owned()),
        Err(error) if error.is_data() => Err(error.to_string()),
        Err(error) => Err(format!("no JSON: {error}")),
    }
}

/// A value in whose objects each name stands once.
struct Once(Json);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(Once(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut fields = Map::new();
        while let Some((name, Once(value))) = entries.next_entry::<String, _>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format!("`{name}` is said twice")));
            }
            fields.insert(name, value);
        }
        Ok(Json::Object(fields))
    }
}

/// An error if a line begins a list, as a document has them that is JSON as a whole, or has a whole number that would
/// become another one.
fn check(line: &str) -> Result<(), String> {
    if line.trim_start().starts_with('[') {
        return Err(
            "it begins a list; write one object a line, without `[` and commas between".to_owned()
        );
    }
    match long_number(line) {
        Some(number) => Err(format!("{number} does not fit into 64 bits with a sign")),
        None => Ok(()),
    }
}

/// The first whole number of a line of JSON that does not fit into 64 bits with a sign, outside of texts.
fn long_number(line: &str) -> Option<&str> {
    let bytes = line.as_bytes();
    let (mut at, mut is_text) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if is_text => at += 1,
            b'"' => is_text = !is_text,
            b'0'..=b'9' if !is_text => {
                let is_part = |byte: &&u8| byte.is_ascii_digit() || b".eE+-".contains(byte);
                let end = at + bytes[at..].iter().take_while(is_part).count();
                let is_whole = bytes[at..end].iter().all(u8::is_ascii_digit);
                let sign = usize::from(at > 0 && bytes[at - 1] == b'-');
                let number = &line[at - sign..end];
                if is_whole && number.parse::<i64>().is_err() {
                    return Some(number);
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{long_number, object};

    #[test]
    fn whole_numbers_that_would_become_others() {
        for line in [
            r#"{"id": 98765432109876543210}"#,
            r#"{"a": "\\", "b": [-123456789012345678901]}"#,
            r#"[-9876543210987654321]"#,
        ] {
            assert!(long_number(line).is_some(), "{line}");
        }
        for line in [
            r#"{"id": 9223372036854775807, "a": -9223372036854775808}"#,
            r#"{"id": "98765432109876543210"}"#,
            r#"{"id": "a \" 98765432109876543210"}"#,
            r#"{"id": 1.98765432109876543210}"#,
            r#"{"id": 98765432109876543210e-3}"#,
            "",
        ] {
            assert_eq!(long_number(line), None, "{line}");
        }
    }

    #[test]
    fn a_name_stands_once() {
        for line in [r#"{"a": 1, "a": 2}"#, r#"{"b": [{"a": 1, "a": 1}]}"#] {
            let error = object(line).expect_err("is refused");
            assert!(error.contains("`a` is said twice"), "{error}");
        }
        let line = r#"{"a": {"b": [1, -2, 0.5, "x", null, true, 9223372036854775807]}, "c": "a"}"#;
        let fields = object(line).expect("reads");
        assert_eq!(
            serde_json::Value::Object(fields),
            serde_json::from_str::<serde_json::Value>(line).expect("reads")
        );
        assert!(object("3").is_err() && object("{").is_err());
    }
}
