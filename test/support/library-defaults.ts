import { OWN_DEFAULTS } from "../../src/domain/default-resource.ts";

/** The default resources of scalelib: ours without "mem", which it does not have. */
export const LIBRARY_DEFAULTS = OWN_DEFAULTS.filter(({ name }) => name !== "mem");
