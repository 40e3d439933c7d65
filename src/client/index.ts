/** What the package exports to a scheduler's scripts: pushing demand, and asking for state. */
export type { Answer, ApiAddress, ExplainQuery, HistoryQuery } from "./api.ts";
export { askToStop, openApi } from "./api.ts";
export type { PutAnswer, Pushed } from "./push.ts";
export { openDemandQueue, putDemand } from "./push.ts";
export type { Doors, Sent } from "./send.ts";
export { checkDemand, sendDemand } from "./send.ts";
export type { ArrayTarget, Envelope } from "./targets.ts";
export { targetOf, updateOf } from "./targets.ts";
export { isName, NAME_EXPECTED } from "../domain/name.ts";
export type { ConfigRead } from "./validate.ts";
export { validateConfig } from "./validate.ts";
export type {
  DemandMessage,
  JobMessage,
  NodearrayMessage,
  PoolMessage,
  SchedulerNodeMessage,
  UncheckedMessage,
} from "../wire/message.ts";
export type { Problem } from "../domain/demand.ts";
