import type { ArrayTemplates } from "../../src/app/ports/cyclecloud.ts";

/** A status whose node arrays have no Configuration. */
export const NO_TEMPLATES: ArrayTemplates = { configurationOf: () => undefined };
