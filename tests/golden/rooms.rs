//! The rooms of each package, which are the folders of its code and the files beside them, form no
//! circle: whatever a room takes from another stands below it. Tests may look where they like.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The files of code below a folder, without those of tests.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of code") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        match path.is_dir() {
            _ if name.starts_with("tests") => {}
            true => files(&path, found),
            false if name.ends_with(".rs") => found.push(path),
            false => {}
        }
    }
}

/// The names of rooms after each `crate::` of a text.
fn named(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = code.map(|line| format!("{line}\n")).collect();
    let mut names = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let word = |text: &str| -> String {
            text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
        };
        match rest.strip_prefix('{') {
            None => drop(names.insert(word(rest))),
            Some(list) => {
                let mut depth = 1;
                let mut begins = true;
                for (at, c) in list.char_indices() {
                    if begins {
                        names.insert(word(&list[at..]));
                    }
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    begins = depth == 1 && c == ',';
                    if depth == 0 {
                        break;
                    }
                }
            }
        }
    }
    names
}

/// Which rooms each room of a package takes from.
fn arrows(package: &str) -> Arrows {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join(package).join("src");
    let mut paths = Vec::new();
    files(&src, &mut paths);
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for path in paths {
        let within = path.strip_prefix(&src).expect("within");
        let room = within.iter().next().expect("a name").to_string_lossy();
        let text = std::fs::read_to_string(&path).expect("readable");
        let text = text.split("mod tests {").next().unwrap_or_default();
        texts.entry(room.trim_end_matches(".rs").to_owned()).or_default().push_str(text);
    }
    // They say what is public, or run the command.
    texts.retain(|room, _| room != "lib" && room != "main");
    let rooms: BTreeSet<String> = texts.keys().cloned().collect();
    let from = |(room, text): (String, String)| {
        let mut names = named(&text);
        names.retain(|name| *name != room && rooms.contains(name));
        (room, names)
    };
    texts.into_iter().map(from).collect()
}

fn assert_no_circle(package: &str, (above, below): (&str, &str)) {
    let mut left = arrows(package);
    assert!(left.get(above).is_some_and(|from| from.contains(below)), "arrows are found");
    loop {
        let (tied, free): (Arrows, Arrows) =
            left.into_iter().partition(|(_, from)| !from.is_empty());
        left = tied;
        if free.is_empty() {
            break;
        }
        left.values_mut().for_each(|from| from.retain(|room| !free.contains_key(room)));
    }
    assert!(left.is_empty(), "these rooms form a circle: {left:#?}");
}

#[test]
fn no_room_takes_from_one_above_it() {
    assert_no_circle("", ("exec", "plan"));
    assert_no_circle("storage", ("transaction", "store"));
    assert_no_circle("grammar", ("parse", "ast"));
}
