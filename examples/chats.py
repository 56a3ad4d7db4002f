"""Brings the exports of chat programs into the form of `engraph import <db> messages <file>`, one chat a line.

    python3 examples/chats.py claude conversations.json > chats.jsonl
    python3 examples/chats.py whatsapp chat.txt --days-first > chats.jsonl

It reads files and writes lines; what is no message, such as "Nora joined", is left out.
"""

import argparse
import datetime
import json
import pathlib
import re


def claude(path):
    """`conversations.json` of Claude: chats with their messages."""
    for chat in json.loads(path.read_text("utf-8")):
        yield chat["uuid"], [
            {"id": said["uuid"], "role": said["sender"], "content": said["text"], "created_at": said["created_at"]}
            for said in chat["chat_messages"]
        ]


def chatgpt(path):
    """`conversations.json` of ChatGPT: of each tree of messages the branch that was left open."""
    for chat in json.loads(path.read_text("utf-8")):
        node, messages = chat.get("current_node"), []
        while node:
            entry = chat["mapping"][node]
            node, said = entry.get("parent"), entry.get("message")
            parts = [part for part in ((said or {}).get("content") or {}).get("parts") or [] if isinstance(part, str)]
            if parts:
                message = {"id": said["id"], "role": said["author"]["role"], "content": parts}
                if said.get("create_time"):
                    message["timestamp"] = said["create_time"]
                messages.append(message)
        yield chat.get("id") or chat["conversation_id"], messages[::-1]


def telegram(path):
    """`result.json` of Telegram: one chat, or all of them."""
    whole = json.loads(path.read_text("utf-8"))
    for chat in whole.get("chats", {}).get("list", [whole]):
        yield f"telegram:{chat['id']}", [
            {
                "id": f"telegram:{chat['id']}:{said['id']}",
                "role": "user",
                "name": said["from"],
                "timestamp": int(said["date_unixtime"]),
                "content": "".join(
                    part if isinstance(part, str) else part["text"]
                    for part in ([said["text"]] if isinstance(said["text"], str) else said["text"])
                ),
            }
            for said in chat["messages"]
            if said["type"] == "message" and said.get("from")
        ]


def slack(path):
    """The folder of a channel of Slack, a file a day, with `users.json` beside it."""
    users = {}
    if (path.parent / "users.json").exists():
        for user in json.loads((path.parent / "users.json").read_text("utf-8")):
            users[user["id"]] = user.get("real_name") or user["name"]
    messages = []
    for day in sorted(path.glob("*.json")):
        for said in json.loads(day.read_text("utf-8")):
            if said.get("type") == "message" and "subtype" not in said and said.get("user"):
                text = re.sub(r"<@(\w+)>", lambda user: users.get(user[1], user[1]), said["text"])
                messages.append(
                    {
                        "id": f"slack:{path.name}:{said['ts']}",
                        "role": "user",
                        "name": users.get(said["user"], said["user"]),
                        "timestamp": float(said["ts"]),
                        "content": text,
                    }
                )
    yield f"slack:{path.name}", messages


def whatsapp(path, days_first=False):
    """A chat of WhatsApp as text; a line that begins with no time goes on with the message before it."""
    begin = re.compile(
        r"^\u200e?\[?(\d+)[/.](\d+)[/.](\d+),? (\d+):(\d+)(?::(\d+))?\s?([AaPp][Mm])?\]?(?: -)? ([^:]+): (.*)$"
    )
    messages = []
    for line in path.read_text("utf-8").splitlines():
        said = begin.match(line.replace("\u202f", " "))
        if said:
            first, second, year, hour, minute = (int(number) for number in said.groups()[:5])
            day, month = (first, second) if days_first else (second, first)
            hour = hour % 12 + (12 if said[7].lower() == "pm" else 0) if said[7] else hour
            year += 2000 if year < 100 else 0
            at = datetime.datetime(year, month, day, hour, minute, int(said[6] or 0))
            messages.append({"role": "user", "name": said[8], "content": said[9], "at": at.isoformat() + "Z"})
        elif messages and not re.match(r"^\u200e?\[?\d+[/.]\d+[/.]\d+", line):
            messages[-1]["content"] += "\n" + line
    yield f"whatsapp:{path.stem}", messages


def main():
    forms = {"claude": claude, "chatgpt": chatgpt, "telegram": telegram, "slack": slack, "whatsapp": whatsapp}
    parser = argparse.ArgumentParser(description="Exports of chat programs as messages, one chat a line.")
    parser.add_argument("form", choices=forms)
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("--days-first", action="store_true", help="of WhatsApp: 14/03/2025, not 03/14/2025")
    asked = parser.parse_args()
    options = {"days_first": asked.days_first} if asked.form == "whatsapp" else {}
    for session, messages in forms[asked.form](asked.path, **options):
        print(json.dumps({"session": session, "messages": messages}, ensure_ascii=False))


if __name__ == "__main__":
    main()
