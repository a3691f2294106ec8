"""What the pages of the documentation call the ways."""

BODY = "a body that is generated while it is sent"
POOL = "a job of a `ThreadPoolExecutor`"
EARLY_THREAD = "a thread that was started before the request, and reads a queue"

LABELS = {
    "flask": {
        "the view": "requests",
        "`before_request`": "before-request",
        BODY: "streamed-body",
        "`call_on_close`": "closed-response",
        "`threading.Thread`": "thread",
        "`threading.Timer`, after the response": "timer-after-the-response",
        POOL: "pool-of-one-thread",
        "a process that `multiprocessing` forks": "fork",
        "a program that the view starts": "program",
        EARLY_THREAD: "queue-of-an-early-thread",
        "a thread that the first request has started, and reads a queue": "queue-of-a-thread",
    },
    "django": {
        "a sync view": "requests",
        "an async view": "to-thread",
        "a middleware": "middleware",
        "`sync_to_async`": "sync-to-async",
        BODY: "streamed-body",
        "`threading.Thread`": "thread",
        POOL: "pool-of-one-thread",
        "`asyncio.create_task`, after the response": "task-after-the-response",
        EARLY_THREAD: "queue-of-an-early-thread",
    },
    "fastapi": {
        "an async endpoint": "httpx",
        "a sync endpoint": "sync-endpoint",
        "a dependency": "sync-dependency",
        "`BackgroundTasks`": "background-task",
        "`asyncio.create_task`, after the response": "task-after-the-response",
        "`asyncio.to_thread`": "to-thread",
        "a job of a `ThreadPoolExecutor`": "executor",
        BODY: "streamed-body",
        "a callback of `call_later`": "call-later",
        "a task that was started before the request, and reads a queue": "queue-of-an-early-task",
        "a task that the first request has started, and reads a queue": "queue-of-a-task",
    },
}
