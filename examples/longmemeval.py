"""Brings a file of LongMemEval into the form of `engraph eval locomo`: each question with its own history.

    python3 examples/longmemeval.py longmemeval_s.json > questions.json
    engraph eval locomo questions.json --recipe engraph --recipe hybrid

Evidence is the turns that the file marks by `has_answer`; a question without any, such as one that cannot be
answered, is in no figure. Of its types, `multi-session` stands as the category multi-hop, `temporal-reasoning` as
temporal, `single-session-preference` as open-domain, and the others as single-hop. Write a file of one type for
figures of that type alone: `--type knowledge-update`.
"""

import argparse
import gzip
import json
import pathlib
import re
import sys

CATEGORIES = {"multi-session": 1, "temporal-reasoning": 2, "single-session-preference": 3}
SINGLE_HOP = 4


def time(text):
    """`2023/05/20 (Sat) 02:21` as `2023-05-20 02:21`."""
    found = re.fullmatch(r"(\d+)/(\d+)/(\d+) \(\w+\) (\d+:\d+)", text)
    if not found:
        raise ValueError(f"{text!r} is no time of the form 2023/05/20 (Sat) 02:21")
    return "{}-{}-{} {}".format(*found.groups())


def conversation(question):
    """The sessions in the order of their times, and the ids of the turns that answer."""
    sessions = zip(map(time, question["haystack_dates"]), question["haystack_sessions"], strict=True)
    said, evidence = {}, []
    for number, (date, turns) in enumerate(sorted(sessions, key=lambda session: session[0]), 1):
        said[f"session_{number}_date_time"] = date
        said[f"session_{number}"] = []
        for place, turn in enumerate(turns, 1):
            key = f"D{number}:{place}"
            said[f"session_{number}"].append({"dia_id": key, "speaker": turn["role"], "text": turn["content"]})
            if turn.get("has_answer"):
                evidence.append(key)
    return said, evidence


def sample(question):
    """A question with its history as a conversation of LoCoMo's form."""
    said, evidence = conversation(question)
    asked = {
        "question": question["question"],
        "answer": question["answer"],
        "category": CATEGORIES.get(question["question_type"], SINGLE_HOP),
        "evidence": evidence,
    }
    return {"sample_id": question["question_id"], "conversation": said, "qa": [asked]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path, help="longmemeval_s.json or another of its form, or that in .gz")
    parser.add_argument("--type", help="only the questions of this type")
    arguments = parser.parse_args()
    data = arguments.file.read_bytes()
    questions = json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    wanted = [one for one in questions if arguments.type in (None, one["question_type"])]
    if not wanted:
        types = ", ".join(sorted({one["question_type"] for one in questions}))
        sys.exit(f"there is no question of the type {arguments.type}; the file has {types or 'none'}")
    json.dump([sample(one) for one in wanted], sys.stdout, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
