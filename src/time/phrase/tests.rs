//! A table of phrases and what they mean, sentences, and any text at all.

use proptest::prelude::*;

use super::*;
use crate::time::{parse, short};

/// A Wednesday.
const NOW: &str = "2023-05-10 13:56:30";

fn at(text: &str) -> Time {
    parse(text).expect(text)
}

/// The instant without seconds if there are none.
fn brief(time: Time) -> String {
    let text = short(time);
    let text = text.trim_end_matches('Z');
    match text.strip_suffix(":00") {
        Some(minutes) if text.len() > "2023-05-08T13:56".len() => minutes.to_owned(),
        _ => text.to_owned(),
    }
}

fn shown(period: Option<Interval>) -> String {
    period.map_or_else(
        || "none".to_owned(),
        |period| format!("{}..{}", brief(period.from), brief(period.to)),
    )
}

/// Tells all phrases that do not mean what they should, seen from an instant.
fn check(reference: &str, table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(phrase, period)| (phrase, shown(when(phrase, at(reference))), period))
        .filter(|(_, found, period)| found != *period)
        .map(|(phrase, found, period)| format!("{phrase}: {found}, not {period}"))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn days() {
    check(
        NOW,
        &[
            ("today", "2023-05-10..2023-05-11"),
            ("Yesterday", "2023-05-09..2023-05-10"),
            ("  TOMORROW. ", "2023-05-11..2023-05-12"),
            ("the day before yesterday", "2023-05-08..2023-05-09"),
            ("the day after tomorrow", "2023-05-12..2023-05-13"),
            ("day before yesterday", "2023-05-08..2023-05-09"),
            ("the day before the day before yesterday", "2023-05-07..2023-05-08"),
            ("tonight", "2023-05-10T18:00..2023-05-11T06:00"),
            ("last night", "2023-05-09T18:00..2023-05-10T06:00"),
            ("the night before last", "2023-05-08T18:00..2023-05-09T06:00"),
            ("this morning", "2023-05-10T06:00..2023-05-10T12:00"),
            ("this afternoon", "2023-05-10T12:00..2023-05-10T18:00"),
            ("this evening", "2023-05-10T18:00..2023-05-11"),
            ("yesterday evening", "2023-05-09T18:00..2023-05-10"),
            ("tomorrow morning", "2023-05-11T06:00..2023-05-11T12:00"),
            ("tomorrow in the afternoon", "2023-05-11T12:00..2023-05-11T18:00"),
            ("last Friday night", "2023-05-05T18:00..2023-05-06T06:00"),
            ("Monday morning", "2023-05-08T06:00..2023-05-08T12:00"),
            ("on the evening of 8 May", "2023-05-08T18:00..2023-05-09"),
            ("the night before Christmas", "2022-12-23T18:00..2022-12-24T06:00"),
            ("earlier today", "2023-05-10..2023-05-10T13:56:30"),
            ("later this week", "2023-05-10T13:56:30..2023-05-15"),
            ("now", "2023-05-10T13:56:30..2023-05-10T13:56:30.000001"),
            ("right now", "2023-05-10T13:56:30..2023-05-10T13:56:30.000001"),
            ("currently", "2023-05-10T13:56:30..2023-05-10T13:56:30.000001"),
            ("at the moment", "2023-05-10T13:56:30..2023-05-10T13:56:30.000001"),
        ],
    );
}

#[test]
fn weekdays() {
    check(
        NOW,
        &[
            ("monday", "2023-05-08..2023-05-09"),
            ("wednesday", "2023-05-10..2023-05-11"),
            ("on Sunday", "2023-05-07..2023-05-08"),
            ("Thurs.", "2023-05-04..2023-05-05"),
            ("last tuesday", "2023-05-09..2023-05-10"),
            ("last wednesday", "2023-05-03..2023-05-04"),
            ("this past Thursday", "2023-05-04..2023-05-05"),
            ("next friday", "2023-05-12..2023-05-13"),
            ("next wednesday", "2023-05-17..2023-05-18"),
            ("the coming Monday", "2023-05-15..2023-05-16"),
            ("this saturday", "2023-05-13..2023-05-14"),
            ("this Monday", "2023-05-08..2023-05-09"),
            ("the friday before 9 June 2023", "2023-06-02..2023-06-03"),
            ("the Sunday before 25 May 2023", "2023-05-21..2023-05-22"),
            ("the monday after 25 May 2023", "2023-05-29..2023-05-30"),
            ("the Friday before last", "2023-04-28..2023-04-29"),
            ("two fridays ago", "2023-04-28..2023-04-29"),
            ("Monday last week", "2023-05-01..2023-05-02"),
            ("last week on Monday", "2023-05-01..2023-05-02"),
            ("Friday of next week", "2023-05-19..2023-05-20"),
            ("the weekend", "2023-05-06..2023-05-08"),
            ("last weekend", "2023-05-06..2023-05-08"),
            ("this weekend", "2023-05-13..2023-05-15"),
            ("next weekend", "2023-05-13..2023-05-15"),
            ("past weekend", "2023-05-06..2023-05-08"),
            ("two weekends ago", "2023-04-29..2023-05-01"),
            ("the weekend before 8 May 2023", "2023-05-06..2023-05-08"),
            ("the first Monday of May 2023", "2023-05-01..2023-05-02"),
            ("the last Friday of 2022", "2022-12-30..2022-12-31"),
        ],
    );
}

#[test]
fn units() {
    check(
        NOW,
        &[
            ("this week", "2023-05-08..2023-05-15"),
            ("last week", "2023-05-01..2023-05-08"),
            ("next week", "2023-05-15..2023-05-22"),
            ("past week", "2023-05-03T13:56:30..2023-05-10T13:56:30"),
            ("the coming week", "2023-05-10T13:56:30..2023-05-17T13:56:30"),
            ("the week before last", "2023-04-24..2023-05-01"),
            ("the week after next", "2023-05-22..2023-05-29"),
            ("this month", "2023-05-01..2023-06-01"),
            ("last month", "2023-04-01..2023-05-01"),
            ("next month", "2023-06-01..2023-07-01"),
            ("this quarter", "2023-04-01..2023-07-01"),
            ("last quarter", "2023-01-01..2023-04-01"),
            ("this season", "2023-03-01..2023-06-01"),
            ("last season", "2022-12-01..2023-03-01"),
            ("this year", "2023-01-01..2024-01-01"),
            ("last year", "2022-01-01..2023-01-01"),
            ("last year's", "2022-01-01..2023-01-01"),
            ("in the previous year", "2022-01-01..2023-01-01"),
            ("next year", "2024-01-01..2025-01-01"),
            ("this decade", "2020-01-01..2030-01-01"),
            ("last decade", "2010-01-01..2020-01-01"),
            ("last century", "1900-01-01..2000-01-01"),
            ("this century", "2000-01-01..2100-01-01"),
            ("the week before 9 June 2023", "2023-05-29..2023-06-05"),
            ("the week after last Christmas", "2022-12-26..2023-01-02"),
            ("the week of 23 August 2023", "2023-08-21..2023-08-28"),
            ("the weekend of 15 July 2023", "2023-07-15..2023-07-17"),
            ("the weekend of July 16, 2023", "2023-07-15..2023-07-17"),
            ("the weekend of 12 July 2023", "2023-07-15..2023-07-17"),
            ("in the month of May 2022", "2022-05-01..2022-06-01"),
            ("the week of 2023", "none"),
            ("the year before 2020", "2019-01-01..2020-01-01"),
            ("the first week of May 2023", "2023-05-01..2023-05-08"),
            ("the last day of 2022", "2022-12-31..2023-01-01"),
            ("earlier this year", "2023-01-01..2023-05-10T13:56:30"),
        ],
    );
}

#[test]
fn distances() {
    check(
        NOW,
        &[
            ("3 days ago", "2023-05-07..2023-05-08"),
            ("two weeks ago", "2023-04-24..2023-05-01"),
            ("a month ago", "2023-04-01..2023-05-01"),
            ("five years ago", "2018-01-01..2019-01-01"),
            ("an hour ago", "2023-05-10T12:00..2023-05-10T13:00"),
            ("10 minutes ago", "2023-05-10T13:46..2023-05-10T13:47"),
            ("a decade ago", "2013-01-01..2014-01-01"),
            ("a quarter of a century ago", "1998-01-01..1999-01-01"),
            ("two hundred days ago", "2022-10-22..2022-10-23"),
            ("a hundred and twenty days ago", "2023-01-10..2023-01-11"),
            ("two dozen days ago", "2023-04-16..2023-04-17"),
            ("half a dozen years ago", "2017-01-01..2018-01-01"),
            ("three hundred years ago", "1723-01-01..1724-01-01"),
            ("1 year, 2 months ago", "2022-03-01..2022-04-01"),
            ("a year ago today", "2022-05-10..2022-05-11"),
            ("a week ago yesterday", "2023-05-02..2023-05-03"),
            ("the week before last Christmas", "2022-12-12..2022-12-19"),
            ("the last Friday of the month", "2023-05-26..2023-05-27"),
            ("two centuries ago", "1823-01-01..1824-01-01"),
            ("a couple of weeks ago", "2023-04-24..2023-05-01"),
            ("a few days ago", "2023-05-07..2023-05-08"),
            ("several months ago", "2022-12-01..2023-01-01"),
            ("half a year ago", "2022-11-01..2022-12-01"),
            ("a year and a half ago", "2021-11-01..2021-12-01"),
            ("two and a half years ago", "2020-11-01..2020-12-01"),
            ("twenty-one days ago", "2023-04-19..2023-04-20"),
            ("twenty one days ago", "2023-04-19..2023-04-20"),
            ("one hundred years ago", "1923-01-01..1924-01-01"),
            ("a fortnight ago", "2023-04-24..2023-05-01"),
            ("about three weeks ago", "2023-04-17..2023-04-24"),
            ("three days earlier", "2023-05-07..2023-05-08"),
            ("in 3 days", "2023-05-13..2023-05-14"),
            ("in two weeks", "2023-05-22..2023-05-29"),
            ("in an hour", "2023-05-10T14:00..2023-05-10T15:00"),
            ("ten days from now", "2023-05-20..2023-05-21"),
            ("two months later", "2023-07-01..2023-08-01"),
            ("two weeks before 8 May 2023", "2023-04-24..2023-04-25"),
            ("three days after Christmas", "2022-12-28..2022-12-29"),
            ("a week from Friday", "2023-05-12..2023-05-13"),
            ("two months after March 2020", "2020-05-01..2020-06-01"),
            ("ten days after March 2023", "2023-04-10..2023-04-11"),
            ("a day before March 2023", "2023-02-28..2023-03-01"),
            ("a week before last Friday", "2023-04-28..2023-04-29"),
            ("a year after 2019", "2020-01-01..2021-01-01"),
            ("a day prior to yesterday", "2023-05-08..2023-05-09"),
            ("the last 7 days", "2023-05-03T13:56:30..2023-05-10T13:56:30"),
            ("past three months", "2023-02-10T13:56:30..2023-05-10T13:56:30"),
            ("over the past few months", "2023-02-10T13:56:30..2023-05-10T13:56:30"),
            ("in the last couple of years", "2021-05-10T13:56:30..2023-05-10T13:56:30"),
            ("next 2 weeks", "2023-05-10T13:56:30..2023-05-24T13:56:30"),
            ("during the past year", "2022-05-10T13:56:30..2023-05-10T13:56:30"),
        ],
    );
}

#[test]
fn months_and_dates() {
    check(
        NOW,
        &[
            ("in march", "2023-03-01..2023-04-01"),
            ("May", "2023-05-01..2023-06-01"),
            ("june", "2022-06-01..2022-07-01"),
            ("March 2023", "2023-03-01..2023-04-01"),
            ("in March of 2021", "2021-03-01..2021-04-01"),
            ("Sept. 2022", "2022-09-01..2022-10-01"),
            ("March, 2023", "2023-03-01..2023-04-01"),
            ("last march", "2023-03-01..2023-04-01"),
            ("last May", "2022-05-01..2022-06-01"),
            ("next March", "2024-03-01..2024-04-01"),
            ("this December", "2023-12-01..2024-01-01"),
            ("May last year", "2022-05-01..2022-06-01"),
            ("in June of last year", "2022-06-01..2022-07-01"),
            ("early May 2023", "2023-05-01..2023-05-11"),
            ("mid-May 2023", "2023-05-11..2023-05-21"),
            ("late May 2023", "2023-05-21..2023-06-01"),
            ("the second half of May 2023", "2023-05-16..2023-06-01"),
            ("8 May 2023", "2023-05-08..2023-05-09"),
            ("May 8th, 2023", "2023-05-08..2023-05-09"),
            ("May 8 2023", "2023-05-08..2023-05-09"),
            ("the 8th of May", "2023-05-08..2023-05-09"),
            ("the eighth of May, 2021", "2021-05-08..2021-05-09"),
            ("May 8", "2023-05-08..2023-05-09"),
            ("May 11", "2022-05-11..2022-05-12"),
            ("May 8th of last year", "2022-05-08..2022-05-09"),
            ("the 4th of July", "2022-07-04..2022-07-05"),
            ("August 2023's", "2023-08-01..2023-09-01"),
            ("May the 8th", "2023-05-08..2023-05-09"),
            ("8 may last year", "2022-05-08..2022-05-09"),
            ("Monday, 8 May 2023", "2023-05-08..2023-05-09"),
            ("on Monday the 8th", "2023-05-08..2023-05-09"),
            ("the twenty-first of April", "2023-04-21..2023-04-22"),
            ("29 February", "2020-02-29..2020-03-01"),
            ("2023-05-08", "2023-05-08..2023-05-09"),
            ("2023/05/08", "2023-05-08..2023-05-09"),
            ("2023-05", "2023-05-01..2023-06-01"),
            ("13/5/2023", "2023-05-13..2023-05-14"),
            ("5/13/2023", "2023-05-13..2023-05-14"),
            ("5/5/2023", "2023-05-05..2023-05-06"),
            // One of two days.
            ("8/5/2023", "2023-05-08..2023-08-06"),
            ("31.12.2022", "2022-12-31..2023-01-01"),
            ("the 1st", "2023-05-01..2023-05-02"),
            ("on the 11th", "2023-04-11..2023-04-12"),
            ("the 5th of last month", "2023-04-05..2023-04-06"),
        ],
    );
}

#[test]
fn times_of_day() {
    check(
        NOW,
        &[
            ("8 May 2023 at 1:56 pm", "2023-05-08T13:56..2023-05-08T13:57"),
            ("1:56 pm on 8 May, 2023", "2023-05-08T13:56..2023-05-08T13:57"),
            ("May 8, 2023, 1:56pm", "2023-05-08T13:56..2023-05-08T13:57"),
            ("2023-05-08T13:56:07Z", "2023-05-08T13:56:07..2023-05-08T13:56:08"),
            ("2023-05-08 13:56", "2023-05-08T13:56..2023-05-08T13:57"),
            ("yesterday at noon", "2023-05-09T12:00..2023-05-09T12:01"),
            ("noon yesterday", "2023-05-09T12:00..2023-05-09T12:01"),
            ("tomorrow at 9 a.m.", "2023-05-11T09:00..2023-05-11T09:01"),
            ("midnight", "2023-05-10..2023-05-10T00:01"),
            ("at 5 pm", "2023-05-09T17:00..2023-05-09T17:01"),
            ("12 am on 8 May", "2023-05-08..2023-05-08T00:01"),
            ("12:30 pm", "2023-05-10T12:30..2023-05-10T12:31"),
            ("next Monday at 14:30", "2023-05-15T14:30..2023-05-15T14:31"),
            ("yesterday evening at 8 pm", "2023-05-09T20:00..2023-05-09T20:01"),
            ("from 9 am to 5 pm", "2023-05-10T09:00..2023-05-10T17:01"),
        ],
    );
}

#[test]
fn years_and_longer() {
    check(
        NOW,
        &[
            ("2019", "2019-01-01..2020-01-01"),
            ("in 2019", "2019-01-01..2020-01-01"),
            ("the year 2019", "2019-01-01..2020-01-01"),
            ("the 1990s", "1990-01-01..2000-01-01"),
            ("the 1990's", "1990-01-01..2000-01-01"),
            ("the 90s", "1990-01-01..2000-01-01"),
            ("the nineties", "1990-01-01..2000-01-01"),
            ("the twenties", "2020-01-01..2030-01-01"),
            ("the 30s", "1930-01-01..1940-01-01"),
            ("the 2000s", "2000-01-01..2010-01-01"),
            ("the 1800s", "1800-01-01..1900-01-01"),
            ("early 2022", "2022-01-01..2022-05-01"),
            ("early in 2022", "2022-01-01..2022-05-01"),
            ("in early next year", "2024-01-01..2024-05-01"),
            ("the late 80s", "1986-09-01..1990-01-01"),
            ("the early 1990s", "1990-01-01..1993-05-01"),
            ("the 19th century", "1800-01-01..1900-01-01"),
            ("in the nineteenth century", "1800-01-01..1900-01-01"),
            ("the twenty-first century", "2000-01-01..2100-01-01"),
            ("late 19th century", "1866-09-01..1900-01-01"),
            ("Q2 2023", "2023-04-01..2023-07-01"),
            ("Q4", "2022-10-01..2023-01-01"),
            ("the second quarter of 2023", "2023-04-01..2023-07-01"),
            ("the 3rd quarter of last year", "2022-07-01..2022-10-01"),
            ("the beginning of 2022", "2022-01-01..2022-05-01"),
            ("the middle of 2022", "2022-05-01..2022-09-01"),
            ("at the end of 2022", "2022-09-01..2023-01-01"),
            ("the first half of 2023", "2023-01-01..2023-07-01"),
            ("the end of the month", "2023-05-21..2023-06-01"),
            ("early this week", "2023-05-08..2023-05-10"),
            ("the summer of 2019", "2019-06-01..2019-09-01"),
            ("last summer", "2022-06-01..2022-09-01"),
            ("this summer", "2023-06-01..2023-09-01"),
            ("next winter", "2023-12-01..2024-03-01"),
            ("last winter", "2022-12-01..2023-03-01"),
            ("spring 2021", "2021-03-01..2021-06-01"),
            ("in the fall", "2022-09-01..2022-12-01"),
            ("winter 2019", "2019-12-01..2020-03-01"),
            ("late autumn of last year", "2022-11-01..2022-12-01"),
            ("two summers ago", "2021-06-01..2021-09-01"),
        ],
    );
}

#[test]
fn open_and_closed_ranges() {
    check(
        NOW,
        &[
            ("since 2019", "2019-01-01..2023-05-10T13:56:30"),
            ("since last summer", "2022-06-01..2023-05-10T13:56:30"),
            ("ever since Monday", "2023-05-08..2023-05-10T13:56:30"),
            ("until March 2021", "-∞..2021-04-01"),
            ("by the end of 2020", "-∞..2021-01-01"),
            ("up to yesterday", "-∞..2023-05-10"),
            ("before 2020", "-∞..2020-01-01"),
            ("prior to last May", "-∞..2022-05-01"),
            ("after 8 May 2023", "2023-05-09..∞"),
            ("from 2020 on", "2020-01-01..∞"),
            ("from May onwards", "2023-05-01..∞"),
            ("between March and May 2022", "2022-03-01..2022-06-01"),
            ("between December and February 2022", "2021-12-01..2022-03-01"),
            ("from March to May", "2023-03-01..2023-06-01"),
            ("from 2018 to 2020", "2018-01-01..2021-01-01"),
            ("2018-2020", "2018-01-01..2021-01-01"),
            ("between 2018 and 2020", "2018-01-01..2021-01-01"),
            ("2018 – 2020", "2018-01-01..2021-01-01"),
            ("from Monday to Friday", "2023-05-08..2023-05-13"),
            ("Monday through Friday", "2023-05-08..2023-05-13"),
            ("from 8 May 2023 until yesterday", "2023-05-08..2023-05-10"),
            ("on 8 and 9 May", "2023-05-08..2023-05-10"),
            ("between 9 am and 5 pm yesterday", "2023-05-09T09:00..2023-05-09T17:01"),
            ("between 8 and 10 May 2023", "2023-05-08..2023-05-11"),
            ("8 May 2023 - 10 May 2023", "2023-05-08..2023-05-11"),
            ("by late 2022", "-∞..2023-01-01"),
            ("since the 1990s", "1990-01-01..2023-05-10T13:56:30"),
            ("after next Friday", "2023-05-13..∞"),
            ("since two weeks ago", "2023-04-24..2023-05-10T13:56:30"),
            ("May 8-10, 2023", "2023-05-08..2023-05-11"),
            ("8-10 May 2023", "2023-05-08..2023-05-11"),
            ("from the 8th to the 10th of May", "2023-05-08..2023-05-11"),
            ("between 28 April and 3 May", "2023-04-28..2023-05-04"),
            ("from last May to now", "2022-05-01..2023-05-10T13:56:30.000001"),
        ],
    );
}

#[test]
fn holidays() {
    check(
        NOW,
        &[
            ("Christmas", "2022-12-25..2022-12-26"),
            ("last Christmas", "2022-12-25..2022-12-26"),
            ("next Christmas", "2023-12-25..2023-12-26"),
            ("this Christmas", "2023-12-25..2023-12-26"),
            ("Christmas 2019", "2019-12-25..2019-12-26"),
            ("Christmas Eve", "2022-12-24..2022-12-25"),
            ("New Year's Eve", "2022-12-31..2023-01-01"),
            ("New Year’s Day 2020", "2020-01-01..2020-01-02"),
            ("at New Year", "2023-01-01..2023-01-02"),
            ("on Halloween", "2022-10-31..2022-11-01"),
            ("Valentine's Day", "2023-02-14..2023-02-15"),
            ("last Easter", "2023-04-09..2023-04-10"),
            ("Easter 2024", "2024-03-31..2024-04-01"),
            ("Thanksgiving of 2023", "2023-11-23..2023-11-24"),
            ("last Thanksgiving", "2022-11-24..2022-11-25"),
            ("Black Friday of 2023", "2023-11-24..2023-11-25"),
            ("Ash Wednesday of 2024", "2024-02-14..2024-02-15"),
            ("Christmas last year", "2022-12-25..2022-12-26"),
        ],
    );
}

#[test]
fn seen_from_elsewhere() {
    check(
        "2024-01-01",
        &[
            ("yesterday", "2023-12-31..2024-01-01"),
            ("last week", "2023-12-25..2024-01-01"),
            ("this winter", "2023-12-01..2024-03-01"),
            ("a month ago", "2023-12-01..2024-01-01"),
            ("Monday", "2024-01-01..2024-01-02"),
            ("last monday", "2023-12-25..2023-12-26"),
            ("New Year", "2024-01-01..2024-01-02"),
            ("since today", "none"),
        ],
    );
    check(
        "-000043-03-15",
        &[("last year", "-000044-01-01..-000043-01-01"), ("in 1800", "1800-01-01..1801-01-01")],
    );
}

#[test]
fn what_is_no_phrase() {
    let long = format!("yesterday{}", " ".repeat(200));
    let deep = "the day before ".repeat(12) + "today";
    let others = [
        "",
        "   ",
        "?!",
        "on my birthday",
        "birthday",
        "soon",
        "31/31/2023",
        "30 February 2023",
        "2023-13-01",
        "the 32nd",
        "13 pm",
        "25:00",
        "12:75",
        "days",
        "two weeks",
        "week",
        "the past",
        "last",
        "ago",
        "in",
        "since",
        "between March and",
        "from 2020 to 2018",
        "yesterday tomorrow",
        "the 13th quarter of 2023",
        "99999999999 years ago",
        "999999 years ago",
        "in 9999999 decades",
        "caf\u{e9} yesterday",
        long.as_str(),
        deep.as_str(),
    ];
    let table: Vec<(&str, &str)> = others.into_iter().map(|phrase| (phrase, "none")).collect();
    check(NOW, &table);
}

/// The phrases found in a sentence.
fn found(text: &str) -> Vec<&str> {
    find(text, at(NOW)).into_iter().map(|(range, _)| &text[range]).collect()
}

#[test]
fn phrases_in_sentences() {
    for (text, phrases) in [
        ("When did Caroline go to the group last May?", vec!["last May"]),
        ("I met her yesterday, and again two weeks ago.", vec!["yesterday", "two weeks ago"]),
        ("On 8 May 2023 at 1:56 pm Ann spoke", vec!["On 8 May 2023 at 1:56 pm"]),
        ("Where did É's sister live in 2019?", vec!["in 2019"]),
        ("What happened between March and May 2022?", vec!["between March and May 2022"]),
        ("She moved in the summer of 2019.", vec!["in the summer of 2019"]),
        ("We left on sunday and came home in may", vec!["on sunday", "in may"]),
        ("Who won the match last year's spring?", vec!["last year's spring"]),
        ("Since last summer she paints", vec!["Since last summer"]),
        ("The week before 9 June 2023 was fun", vec!["The week before 9 June 2023"]),
        ("Did they meet on Christmas Eve?", vec!["on Christmas Eve"]),
        ("today's news", vec!["today's"]),
        ("I was there in 2018 and in 2020", vec!["in 2018", "in 2020"]),
        ("I was there in 2018 and 2020", vec!["in 2018"]),
        ("It rained last May. 8 people came on Wed.", vec!["last May", "on Wed"]),
        ("Over the summer and for the weekend", vec!["Over the summer", "for the weekend"]),
        ("It was May 8, 2023.", vec!["May 8, 2023"]),
        ("in the 90s, on the 1st or at 5 pm", vec!["in the 90s", "on the 1st", "at 5 pm"]),
        ("(2023-05-08) and 2018-2020!", vec!["2023-05-08", "2018-2020"]),
    ] {
        assert_eq!(found(text), phrases, "{text}");
    }
    let last_may = find("Where was I last May?", at(NOW));
    assert_eq!(shown(last_may.first().map(|(_, period)| *period)), "2022-05-01..2022-06-01");
}

#[test]
fn words_that_only_look_like_times() {
    for text in [
        "you may go",
        "May I ask a question?",
        "they march on",
        "the second one",
        "wait a second",
        "the sun was out and I sat",
        "do not fall for spring water",
        "I have 2000 dollars and 3 cats",
        "you may 5 times",
        "version 2.0, 12:1, 3.5 and v2023",
        "the last of us",
        "this is it, now and then",
        "two weeks of rain",
        "order #2023-05 and path/2019",
        "in 2.5 hours of work",
        "for may we not",
        "at first it was for the first time",
        "we lay in the sun",
        "in the 4th round",
        "lost in the moment",
        "the summer",
        "spots on the sun",
        "last May_x and in 2019.5 units",
        "",
    ] {
        assert_eq!(found(text), Vec::<&str>::new(), "{text}");
    }
}

/// Sentences made of the words that the rules know.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "the",
        "last",
        "next",
        "this",
        "past",
        "week",
        "weeks",
        "month",
        "year",
        "years",
        "before",
        "after",
        "of",
        "in",
        "on",
        "at",
        "from",
        "to",
        "between",
        "and",
        "since",
        "until",
        "two",
        "a",
        "half",
        "twenty",
        "-",
        "one",
        "hundred",
        "ago",
        "later",
        "May",
        "monday",
        "summer",
        "first",
        "second",
        "quarter",
        "century",
        "1990s",
        "90s",
        "2023",
        "8",
        "8th",
        "29",
        "February",
        ",",
        "/",
        ":",
        "30",
        "pm",
        "noon",
        "morning",
        "night",
        "Easter",
        "christmas",
        "early",
        "mid",
        "end",
        "now",
        "today",
        "tomorrow",
        "decades",
        "9999",
        "1000",
        "999999",
        "weekend",
        "few",
        "couple",
        "99th",
    ]);
    prop::collection::vec(word, 0..30).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn any_words_from_any_instant(text in words(), reference: i64) {
        if let Some(period) = when(&text, reference) {
            prop_assert!(period.from < period.to);
        }
    }

    #[test]
    fn any_words_from_any_year(text in words(), seconds in -377_000_000_000..253_000_000_000_i64) {
        let _ = when(&text, seconds * 1_000_000);
        let mut end = 0;
        for (range, period) in find(&text, seconds * 1_000_000) {
            prop_assert!(end <= range.start && period.from < period.to);
            prop_assert!(text.get(range.clone()).is_some_and(|phrase| !phrase.is_empty()));
            end = range.end;
        }
    }

    #[test]
    fn any_text(text: String, reference: i64) {
        let _ = (when(&text, reference), find(&text, reference));
    }
}
