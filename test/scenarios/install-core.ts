import { installCore } from "../../src/local/host/core.ts";

// Import this before any function: registering a function needs a host to register with. No call goes through this host.
installCore();
