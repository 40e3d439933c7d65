import { installCore } from "../../src/local/host/core.ts";

// Imported before any function is: registering needs a host to register with, though nothing is dispatched through it here.
installCore();
