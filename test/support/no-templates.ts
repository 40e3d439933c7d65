import type { ArrayTemplates } from "../../src/app/ports/cyclecloud.ts";

/** The result of an observation whose node arrays have no Configuration. */
export const NO_TEMPLATES: ArrayTemplates = { configurationOf: () => undefined };
