"""How long a page takes until one can look at it, in seconds since its navigation
began, by the browser's own clock.

    open_page.py CHROMIUM PAGE PROFILE

Prints what the page says of itself (data-seconds), or its state and the first
message after 30 s. The browser has no network: every host leads nowhere.
"""
import json
import os
import subprocess
import sys
import time

chromium, page, profile = sys.argv[1:4]
OPTIONS = """--headless --no-sandbox --disable-gpu --use-gl=angle
  --use-angle=swiftshader --enable-unsafe-swiftshader --disable-quic --no-first-run
  --disable-background-networking --disable-component-update --disable-sync
  --window-size=1300,900 --remote-debugging-pipe""".split()

# the browser reads commands from its descriptor 3 and answers on 4
to_read, to_write = os.pipe()
from_read, from_write = os.pipe()


def place_pipes():
    read, write = os.dup(to_read), os.dup(from_write)
    os.dup2(read, 3)
    os.dup2(write, 4)


browser = subprocess.Popen(
    [chromium, *OPTIONS, "--host-resolver-rules=MAP * ~NOTFOUND",
     "--user-data-dir=" + profile, "about:blank"],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    preexec_fn=place_pipes, close_fds=False)
answers = os.fdopen(from_read, "rb")
number = 0


def ask(method, session=None, **parameters):
    global number
    number += 1
    command = {"id": number, "method": method, "params": parameters}
    if session:
        command["sessionId"] = session
    os.write(to_write, json.dumps(command).encode() + b"\0")
    while True:
        text = b""
        while not text.endswith(b"\0"):
            letter = answers.read(1)
            if not letter:
                sys.exit("the browser is gone")
            text += letter
        answer = json.loads(text[:-1])
        if answer.get("id") == number:
            return answer["result"]


try:
    target = ask("Target.createTarget", url="file://" + os.path.abspath(page))
    session = ask("Target.attachToTarget", flatten=True,
                  targetId=target["targetId"])["sessionId"]
    for _ in range(300):
        state = ask("Runtime.evaluate", session, returnByValue=True,
                    expression="[document.documentElement.dataset.state || '',"
                    " document.documentElement.dataset.seconds || '',"
                    " document.getElementById('verdict')?.textContent || '']")
        state, seconds, verdict = state["result"].get("value", ["", "", ""])
        if seconds:
            break
        time.sleep(0.1)
    print(seconds or f"not ready: {state} {verdict}")
finally:
    browser.kill()
    browser.wait()
