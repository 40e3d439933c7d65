/** A small functions app that uses every trigger that the local host serves. Importing it registers its functions. */
export * as http from "./http.ts";
export * as queues from "./queues.ts";
export * as timers from "./timers.ts";
