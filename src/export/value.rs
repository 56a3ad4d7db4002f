//! Property values and instants as they stand in an export: the same type and the same bits come
//! back.
//!
//! ```text
//! null, true, 3, 0.5, "text", [..], {..}   as JSON has them; 3 is an integer and 3.0 is none
//! {"$timestamp": "2025-06-14T00:00:00Z"}   an instant; {"$timestamp": 1} counts microseconds
//! {"$$timestamp": 1}                       a map whose name is `$timestamp`: a name in a map that
//!                                          begins with `$` has one more of them
//! ```
//!
//! It never writes a number that JSON does not have: what is not finite is an error.

use std::collections::BTreeMap;
use std::fmt;

use engraph_storage::graph::{Interval, Time, Value};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap as _, Serializer};

use crate::time;

/// The name that makes a map an instant.
const TIMESTAMP: &str = "$timestamp";
/// The instant before all others and the one after them, where null does not say which it is.
const MIN: &str = "-infinity";
const MAX: &str = "infinity";

/// A value of a property.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored(pub(crate) Value);

impl Serialize for Stored {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Lent(&self.0).serialize(serializer)
    }
}

/// A part of a value.
struct Lent<'v>(&'v Value);

impl Serialize for Lent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) => serializer.serialize_i64(*value),
            Value::Float(value) if !value.is_finite() => {
                Err(S::Error::custom(format!("{value} is not a finite number")))
            }
            Value::Float(value) => serializer.serialize_f64(*value),
            Value::String(text) => serializer.serialize_str(text),
            Value::Timestamp(instant) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(TIMESTAMP, &Instant(*instant))?;
                map.end()
            }
            Value::List(items) => serializer.collect_seq(items.iter().map(Lent)),
            Value::Map(entries) => {
                let name =
                    |name: &str| if name.starts_with('$') { "$" } else { "" }.to_owned() + name;
                let entries = entries.iter().map(|(key, value)| (name(key), Lent(value)));
                serializer.collect_map(entries)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue).map(Self)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of a property")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        let fits = i64::try_from(value).map(Value::Int);
        fits.map_err(|_| E::custom(format!("{value} does not fit into 64 bits")))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Stored(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == TIMESTAMP {
                let Instant(instant) = map.next_value()?;
                return match (entries.is_empty(), map.next_key::<String>()?) {
                    (true, None) => Ok(Value::Timestamp(instant)),
                    _ => Err(de::Error::custom(format!("{TIMESTAMP} stands alone in its map"))),
                };
            }
            let name = match key.strip_prefix('$') {
                Some(name) if !name.starts_with('$') => {
                    return Err(de::Error::custom(format!("nothing is written as `{key}`")));
                }
                name => name.unwrap_or(&key).to_owned(),
            };
            let Stored(value) = map.next_value()?;
            if entries.insert(name, value).is_some() {
                return Err(de::Error::custom(format!("`{key}` is there twice")));
            }
        }
        Ok(Value::Map(entries))
    }
}

/// An instant that is no end: text by RFC 3339, and microseconds since 1970 where the year has no
/// four digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant(pub(crate) Time);

/// A beginning; null is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start(pub(crate) Time);

/// An end; null is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End(pub(crate) Time);

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.0, None, serializer)
    }
}

impl Serialize for Start {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.0, Some(Interval::MIN), serializer)
    }
}

impl Serialize for End {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.0, Some(Interval::MAX), serializer)
    }
}

fn serialize<S: Serializer>(time: Time, open: Option<Time>, to: S) -> Result<S::Ok, S::Error> {
    match time {
        time if open == Some(time) => to.serialize_unit(),
        Interval::MIN => to.serialize_str(MIN),
        Interval::MAX => to.serialize_str(MAX),
        time => match time::rfc3339(time) {
            Some(text) => to.serialize_str(&text),
            None => to.serialize_i64(time),
        },
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyInstant { open: None }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyInstant { open: Some(Interval::MIN) }).map(Self)
    }
}

impl<'de> Deserialize<'de> for End {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyInstant { open: Some(Interval::MAX) }).map(Self)
    }
}

struct AnyInstant {
    /// What null is.
    open: Option<Time>,
}

impl Visitor<'_> for AnyInstant {
    type Value = Time;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an instant")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Time, E> {
        self.open.ok_or_else(|| E::custom("null is no instant"))
    }

    fn visit_i64<E>(self, microseconds: i64) -> Result<Time, E> {
        Ok(microseconds)
    }

    fn visit_u64<E: de::Error>(self, microseconds: u64) -> Result<Time, E> {
        Time::try_from(microseconds).map_err(|_| E::custom(format!("{microseconds} is too late")))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Time, E> {
        match text {
            MIN => Ok(Interval::MIN),
            MAX => Ok(Interval::MAX),
            text => time::from_rfc3339(text)
                .ok_or_else(|| E::custom(format!("'{text}' is no instant by RFC 3339"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The value as its bits, for 0.0 and -0.0 are equal.
    fn bits(value: &Value) -> String {
        match value {
            Value::Float(number) => format!("float {:x}", number.to_bits()),
            Value::List(items) => format!("{:?}", items.iter().map(bits).collect::<Vec<_>>()),
            Value::Map(entries) => {
                let entries = entries.iter().map(|(name, value)| (name, bits(value)));
                format!("{:?}", entries.collect::<Vec<_>>())
            }
            other => format!("{other:?}"),
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let float = any::<f64>().prop_filter("finite", |number| number.is_finite());
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            float.prop_map(Value::Float),
            any::<String>().prop_map(Value::String),
            any::<i64>().prop_map(Value::Timestamp),
        ];
        let name = prop_oneof![any::<String>(), "\\${0,3}(timestamp)?"];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
                prop::collection::btree_map(name.clone(), inner, 0..4).prop_map(Value::Map),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn values_come_back_with_their_type_and_bits(value in value()) {
            let text = serde_json::to_string(&Stored(value.clone())).expect("writes");
            let Stored(back) = serde_json::from_str(&text).expect(&text);
            prop_assert_eq!(bits(&back), bits(&value), "{}", text);
        }

        #[test]
        fn floats_and_components_come_back(bits in any::<u64>(), short in any::<u32>()) {
            let (long, short) = (f64::from_bits(bits), f32::from_bits(short));
            if long.is_finite() {
                let text = serde_json::to_string(&long).expect("writes");
                let back: f64 = serde_json::from_str(&text).expect("reads");
                prop_assert_eq!(back.to_bits(), long.to_bits());
            }
            if short.is_finite() {
                let text = serde_json::to_string(&[short]).expect("writes");
                let back: Vec<f32> = serde_json::from_str(&text).expect("reads");
                prop_assert_eq!(back[0].to_bits(), short.to_bits());
            }
        }
    }

    fn text(value: Value) -> String {
        serde_json::to_string(&Stored(value)).expect("writes")
    }

    #[test]
    fn how_they_are_written() {
        let map = |name: &str| Value::Map(BTreeMap::from([(name.to_owned(), Value::Int(1))]));
        assert_eq!(text(Value::Float(1.0)), "1.0");
        assert_eq!(text(Value::Float(-0.0)), "-0.0");
        assert_eq!(text(Value::Int(1)), "1");
        assert_eq!(text(Value::String("a\0\u{2028}".to_owned())), "\"a\\u0000\u{2028}\"");
        assert_eq!(text(Value::Timestamp(0)), r#"{"$timestamp":"1970-01-01T00:00:00Z"}"#);
        assert_eq!(text(Value::Timestamp(1)), r#"{"$timestamp":"1970-01-01T00:00:00.000001Z"}"#);
        assert_eq!(text(Value::Timestamp(i64::MAX)), r#"{"$timestamp":"infinity"}"#);
        assert_eq!(text(Value::Timestamp(i64::MAX - 1)), r#"{"$timestamp":9223372036854775806}"#);
        assert_eq!(text(map("$timestamp")), r#"{"$$timestamp":1}"#);
        assert_eq!(text(map("timestamp")), r#"{"timestamp":1}"#);
        assert!(serde_json::to_string(&Stored(Value::Float(f64::NAN))).is_err());
    }

    #[test]
    fn the_deepest_value_comes_back() {
        let nested = (0..engraph_storage::VALUE_DEPTH_MAX).fold(Value::Timestamp(0), |value, _| {
            Value::Map(BTreeMap::from([("$".to_owned(), value)]))
        });
        // An export has it within a property within a claim within a fact.
        let within = format!("[[[[[[{}]]]]]]", text(nested.clone()));
        let Stored(back) = serde_json::from_str(&within).expect("is not too deep");
        assert_eq!(text(back), within);
    }

    #[test]
    fn open_ends_are_null() {
        let pair = |from, to| serde_json::to_string(&(Start(from), End(to))).expect("writes");
        assert_eq!(pair(Interval::MIN, Interval::MAX), "[null,null]");
        assert_eq!(pair(Interval::MAX, Interval::MIN), r#"["infinity","-infinity"]"#);
        for (from, to) in [(Interval::MIN, Interval::MAX), (Interval::MAX, Interval::MIN), (0, 1)] {
            let back: (Start, End) = serde_json::from_str(&pair(from, to)).expect("reads");
            assert_eq!(back, (Start(from), End(to)));
        }
    }

    #[test]
    fn what_nobody_writes_is_refused() {
        for text in [
            r#"{"$other":1}"#,
            r#"{"$timestamp":null}"#,
            r#"{"$timestamp":"yesterday"}"#,
            r#"{"$timestamp":"2025-06-14T00:00:00Z","a":1}"#,
            r#"{"a":1,"$timestamp":"2025-06-14T00:00:00Z"}"#,
            r#"{"a":1,"a":2}"#,
            "9223372036854775808",
        ] {
            assert!(serde_json::from_str::<Stored>(text).is_err(), "{text}");
        }
    }
}
