// Not in validate.ts: its types are in the npm package, and a type that is made from a schema would need zod there.
export { compareConfigs } from "../wire/policy/config-diff.ts";
