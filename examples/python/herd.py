"""The herd from Python, standard library only: three calls at once, each reply is known by its id."""
import json
import os
import socket

run = os.path.join(os.environ["TOOLHERD_HOME"], "run") if "TOOLHERD_HOME" in os.environ else None
folder = run or os.path.join(os.environ.get("XDG_RUNTIME_DIR", ""), "toolherd")
path = os.environ.get("TOOLHERD_SOCKET") or os.path.join(folder, "toolherd.sock")

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(path)
    lines = connection.makefile("rw", encoding="utf-8", newline="\n")
    for number in (1, 2, 3):
        params = {"server": "everything", "tool": "get-sum", "arguments": {"a": number, "b": number}}
        lines.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": "fleet/call", "params": params}) + "\n")
    lines.flush()
    replies = [json.loads(lines.readline()) for _ in range(3)]

for reply in sorted(replies, key=lambda reply: reply["id"]):
    result = reply["result"]
    print(result["content"][0]["text"] if result["success"] else result["error"]["message"])
