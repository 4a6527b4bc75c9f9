# The Worker in workerd, on this machine. wrangler.json says the same for Cloudflare.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    # Private addresses too: the model may run on this machine.
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
    # The conversations, in the folder that hosts/workerd.js names.
    (name = "data", disk = (writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8787", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["enable_request_signal"],
  modules = [
    (name = "worker.js", esModule = embed "build/worker.js"),
    (name = "turncore.wasm", wasm = embed "build/turncore.wasm"),
    (name = "turncore-full.wasm", wasm = embed "build/turncore-full.wasm"),
  ],
  durableObjectNamespaces = [
    (className = "Conversation", uniqueKey = "conversation", enableSql = true),
    (className = "UserSessions", uniqueKey = "sessions", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "data"),
  bindings = [
    (name = "CONVERSATIONS", durableObjectNamespace = "Conversation"),
    (name = "SESSIONS", durableObjectNamespace = "UserSessions"),
    (name = "ON_DISCONNECT", fromEnvironment = "ON_DISCONNECT"),
    (name = "PAUSE_MS", fromEnvironment = "PAUSE_MS"),
    (name = "SILENCE_MS", fromEnvironment = "SILENCE_MS"),
    (name = "OPENAI_API_KEY", fromEnvironment = "OPENAI_API_KEY"),
    (name = "OPENAI_BASE_URL", fromEnvironment = "OPENAI_BASE_URL"),
    (name = "OPENAI_MODEL", fromEnvironment = "OPENAI_MODEL"),
  ],
);
