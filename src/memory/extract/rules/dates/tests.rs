//! Phrases of a sentence as they are written, and when what it says held.

use super::*;

/// Monday, 8 May 2023, 13:56.
fn resolved(text: &str) -> (String, String) {
    let at = time::parse("2023-05-08 13:56").expect("a time");
    let mut edits = Edits::default();
    let valid = resolve(text, Some(at), &mut edits);
    let valid = format!("{}..{}", time::short(valid.from), time::short(valid.to));
    (edits.apply(text), valid)
}

#[test]
fn dates_are_made_absolute() {
    for (text, expected, valid) in [
        ("I ran yesterday", "I ran on 7 May 2023", "2023-05-07..2023-05-08"),
        ("yesterday's race", "7 May 2023's race", "2023-05-07..2023-05-08"),
        ("I ran last month", "I ran in April 2023", "2023-04-01..2023-05-01"),
        ("I ran last year", "I ran in 2022", "2022-01-01..2023-01-01"),
        ("I ran last week", "I ran last week (1 to 7 May 2023)", "2023-05-01..2023-05-08"),
        ("I run on Friday", "I run on 5 May 2023", "2023-05-05..2023-05-06"),
        ("I moved in 2019", "I moved in 2019", "2019-01-01..2020-01-01"),
        ("I moved in March", "I moved in March 2023", "2023-03-01..2023-04-01"),
        ("I run every Monday", "I run every Monday", "2023-05-08T13:56:00Z..∞"),
        ("I teach its Monday class", "I teach its Monday class", "2023-05-08T13:56:00Z..∞"),
        ("I run in the morning", "I run in the morning", "2023-05-08T13:56:00Z..∞"),
        ("I live here now", "I live here now", "2023-05-08T13:56:00Z..∞"),
        ("I live here since 2016", "I live here since 2016", "2016-01-01..∞"),
        ("I have run for four years", "I have run for four years", "2019-01-01..∞"),
        ("I run since four years", "I run since four years", "2019-01-01..∞"),
        (
            "I have run for a quarter of a century",
            "I have run for a quarter of a century",
            "1998-01-01..∞",
        ),
        ("Haven't met in a few days", "Haven't met in a few days", "2023-05-08T13:56:00Z..∞"),
        ("I run", "I run", "2023-05-08T13:56:00Z..∞"),
        // What is still to come.
        ("I will run on Friday", "I will run on 12 May 2023", "2023-05-12..2023-05-13"),
        ("I'll run in March", "I'll run in March 2024", "2024-03-01..2024-04-01"),
        ("I plan to run in June", "I plan to run in June 2023", "2023-06-01..2023-07-01"),
        ("I live here until March", "I live here until March", "-∞..2024-04-01"),
        ("I lived here until March", "I lived here until March", "-∞..2023-04-01"),
        ("I have a meeting on Friday", "I have a meeting on 12 May 2023", "2023-05-12..2023-05-13"),
        ("I had a meeting on Friday", "I had a meeting on 5 May 2023", "2023-05-05..2023-05-06"),
        (
            "I will buy what I saw on Friday",
            "I will buy what I saw on 5 May 2023",
            "2023-05-05..2023-05-06",
        ),
        ("The baby is due in March", "The baby is due in March 2024", "2024-03-01..2024-04-01"),
        ("I retire in March", "I retire in March 2024", "2024-03-01..2024-04-01"),
        // A note is of what is to come, a birthday of no year.
        (
            "Noted: Dr. Weber, 22 April at 10",
            "Noted: Dr. Weber, on 22 April 2024 at 10",
            "2024-04-22..2024-04-23",
        ),
        (
            "Got it, dinner with Ann on Friday",
            "Got it, dinner with Ann on 12 May 2023",
            "2023-05-12..2023-05-13",
        ),
        (
            "Noted that we met on Friday",
            "Noted that we met on 5 May 2023",
            "2023-05-05..2023-05-06",
        ),
        (
            "I booked a table for 3 March",
            "I booked a table on 3 March 2024",
            "2024-03-03..2024-03-04",
        ),
        (
            "I have added it: dentist, 3 March",
            "I have added it: dentist, on 3 March 2024",
            "2024-03-03..2024-03-04",
        ),
        ("I noted: we met on 3 March", "I noted: we met on 3 March 2023", "2023-03-03..2023-03-04"),
        // Of a day that is as often to come as over, the nearer one.
        (
            "I bought tickets for Oslo on 22 August",
            "I bought tickets for Oslo on 22 August 2023",
            "2023-08-22..2023-08-23",
        ),
        (
            "I signed up for the race in September",
            "I signed up for the race in September 2023",
            "2023-09-01..2023-10-01",
        ),
        (
            "I signed up for the race in April",
            "I signed up for the race in April 2023",
            "2023-04-01..2023-05-01",
        ),
        (
            "I decided to visit Oslo in June",
            "I decided to visit Oslo in June 2023",
            "2023-06-01..2023-07-01",
        ),
        (
            "I got a job at Bosch starting July 1",
            "I got a job at Bosch starting on 1 July 2023",
            "2023-07-01..2023-07-02",
        ),
        (
            "They pushed my exam to June 7",
            "They pushed my exam to 7 June 2023",
            "2023-06-07..2023-06-08",
        ),
        (
            "She is called Ann, first meeting June 9",
            "She is called Ann, first meeting on 9 June 2023",
            "2023-06-09..2023-06-10",
        ),
        (
            "I quit, last day is June 30",
            "I quit, last day is on 30 June 2023",
            "2023-06-30..2023-07-01",
        ),
        (
            "They moved my appointment to March 7",
            "They moved my appointment to 7 March 2024",
            "2024-03-07..2024-03-08",
        ),
        // Done, whatever stands beside it.
        (
            "I signed up for a course and met Tom in June",
            "I signed up for a course and met Tom in June 2022",
            "2022-06-01..2022-07-01",
        ),
        (
            "I'm a registered nurse since December",
            "I'm a registered nurse since December",
            "2022-12-01..∞",
        ),
        (
            "I was thinking about you on Friday",
            "I was thinking about you on 5 May 2023",
            "2023-05-05..2023-05-06",
        ),
        (
            "I lost my tickets on Friday",
            "I lost my tickets on 5 May 2023",
            "2023-05-05..2023-05-06",
        ),
        ("Booked my flight in March", "Booked my flight in March 2023", "2023-03-01..2023-04-01"),
        (
            "The city I moved to in March is Oslo",
            "The city I moved to in March 2023 is Oslo",
            "2023-03-01..2023-04-01",
        ),
        (
            "I got sick, surgery in March",
            "I got sick, surgery in March 2023",
            "2023-03-01..2023-04-01",
        ),
        ("Her birthday is on 3 March", "Her birthday is on 3 March", "2023-05-08T13:56:00Z..∞"),
        (
            "The birthday party is on 3 March",
            "The birthday party is on 3 March 2024",
            "2024-03-03..2024-03-04",
        ),
        (
            "The office party was on 3 March",
            "The office party was on 3 March 2023",
            "2023-03-03..2023-03-04",
        ),
        ("In March I will run", "in March 2024 I will run", "2024-03-01..2024-04-01"),
        ("I started in March", "I started in March 2023", "2023-03-01..2023-04-01"),
        ("We fly on 5 May", "We fly on 5 May 2024", "2024-05-05..2024-05-06"),
        (
            "I am getting married in June",
            "I am getting married in June 2023",
            "2023-06-01..2023-07-01",
        ),
        ("We're going away in March", "We're going away in March 2024", "2024-03-01..2024-04-01"),
        (
            "We're moving in March because Tom got a job",
            "We're moving in March 2024 because Tom got a job",
            "2024-03-01..2024-04-01",
        ),
        ("I visit Ann in March", "I visit Ann in March 2024", "2024-03-01..2024-04-01"),
        ("I visited Ann in March", "I visited Ann in March 2023", "2023-03-01..2023-04-01"),
        ("I cook, come on Sunday", "I cook, come on 14 May 2023", "2023-05-14..2023-05-15"),
        ("I will run on Monday", "I will run on 15 May 2023", "2023-05-15..2023-05-16"),
        (
            "I am getting better since my fall in March",
            "I am getting better since my fall in March 2023",
            "2023-03-01..∞",
        ),
        ("I ran in the summer of 2015", "I ran in the summer of 2015", "2015-06-01..2015-09-01"),
        ("I ran it in 3 hours", "I ran it in 3 hours", "2023-05-08T13:56:00Z..∞"),
        ("I will run in May 2020", "I will run in May 2020", "2020-05-01..2020-06-01"),
    ] {
        assert_eq!(resolved(text), (expected.to_owned(), valid.to_owned()), "{text}");
    }
}

#[test]
fn a_turn_without_a_time() {
    let mut edits = Edits::default();
    assert_eq!(resolve("I ran yesterday", None, &mut edits), Interval::ALL);
    assert_eq!(edits.apply("I ran yesterday"), "I ran yesterday");
}

#[test]
fn a_length_is_no_date_and_a_date_no_length() {
    for (text, expected) in [
        ("I moved in the summer of last year", "2022-06-01..2022-09-01"),
        ("I moved in the first week of May", "2023-05-01..2023-05-08"),
        ("I moved in the year 2015", "2015-01-01..2016-01-01"),
        ("We rented a cabin for our holiday in July", "2023-07-01..2023-08-01"),
        ("I bought a bike for my son in July", "2022-07-01..2022-08-01"),
        ("I made an appointment with Dr. Moore on the 20th of May", "2023-05-20..2023-05-21"),
        ("I moved this season", "2023-03-01..2023-06-01"),
        ("I ran it in 3 hours", "2023-05-08T13:56:00Z..∞"),
        ("I moved a year ago today", "2022-05-08..2022-05-09"),
        ("I moved less than a year ago", "2022-05-08T13:56:00Z..∞"),
        ("I worked there for two years before 2020", "2023-05-08T13:56:00Z..∞"),
    ] {
        assert_eq!(resolved(text).1, expected, "{text}");
    }
}
