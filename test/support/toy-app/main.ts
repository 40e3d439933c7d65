/** A small functions app that uses every trigger, output and hook that the local host serves. Importing it registers its functions. */
export * as hooks from "./hooks.ts";
export * as http from "./http.ts";
export * as queues from "./queues.ts";
export * as timers from "./timers.ts";
