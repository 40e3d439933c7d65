/** The exports of the package, for the scripts of a scheduler: they send demand and read the state. */
export type * from "./answers.ts";
export type { Answer } from "./answer.ts";
export type { ApiAddress } from "./call.ts";
export type { AnsweringApi, ThrowingApi } from "./api.ts";
export type { ComparisonQuery, ExplainQuery } from "./requests.ts";
export type { HistoryQuery, NodeHistoryQuery } from "./pages.ts";
export { openApi } from "./api.ts";
export { askToStop } from "./stop-series.ts";
export type { FunctionList, ListedFunction, ManagementApi } from "./management.ts";
export { listHostFunctions, openManagement } from "./management.ts";
export type { Failure } from "./error.ts";
export { AutoscalerError } from "./error.ts";
export type { Pushed } from "./push.ts";
export { openDemandQueue, putDemand } from "./push.ts";
export type { Accepted, Doors, SendOptions, Sent } from "./send.ts";
export { checkDemand, sendDemand } from "./send.ts";
export type { Constraint, JobOptions } from "./builders.ts";
export {
  allOf,
  anyOf,
  EXCLUSIVE,
  EXCLUSIVE_TASK,
  hostOf,
  IN_A_PLACEMENT_GROUP,
  isNot,
  jobOf,
  memory,
  needs,
  never,
  nodeIs,
  oneOf,
  pool,
} from "./builders.ts";
export type { ArrayTarget, Envelope } from "./builders.ts";
export { targetOf, updateOf } from "./builders.ts";
export type { Role } from "../domain/roles.ts";
export { ALL_FUNCTIONS, functionsOf, ROLES } from "../domain/roles.ts";
export { isPlainHttp } from "../domain/loopback.ts";
export { isName, NAME_EXPECTED } from "../domain/name.ts";
export type { ConfigRead, ConstraintRead } from "./validate.ts";
export { validateConfig, validateConstraints } from "./validate.ts";
export { describeConfig } from "../wire/config-schema.ts";
export type {
  DemandMessage,
  JobMessage,
  NodearrayMessage,
  PoolMessage,
  SchedulerNodeMessage,
  UncheckedMessage,
} from "../wire/message/message.ts";
