import * as z from "zod";

import { labelSchema, nameSchema } from "../json/name.ts";
import { BOUNDS } from "../json/bounds.ts";
import { AT_MOST } from "../json/fields.ts";

const wholeNumber = (least: 0 | 1) => {
  const error = ({ input }: { readonly input?: unknown }) =>
    typeof input === "number" && input > BOUNDS.count ? AT_MOST : `a whole number, ${least} or more`;
  return z.int({ error, abort: true }).min(least, { error }).max(BOUNDS.count, { error });
};

const count = wholeNumber(0);

const size = wholeNumber(1);

const SIZES = "a VM size, or a list of VM sizes, preferred first";

const TOO_MANY_SIZES = `at most ${BOUNDS.machineTypes} VM sizes, each of at most ${BOUNDS.resource} characters`;

const machineTypeText = z
  .string({ error: SIZES })
  .min(1, { error: SIZES })
  .max(BOUNDS.resource, { error: TOO_MANY_SIZES });

const machineTypes = z.union(
  [
    machineTypeText,
    z
      .array(machineTypeText, { error: SIZES })
      .min(1, { error: SIZES })
      .max(BOUNDS.machineTypes, { error: TOO_MANY_SIZES }),
  ],
  {
    error: SIZES,
  },
);

/** A smaller number is in seconds. */
const LEAST_MOMENT = 1e11;

const MOMENT = "a whole number: milliseconds since 1970";

/** An entry of `nodearrays`: attribute names as in the autoscale API (cyclecloud-wire.md C.2). Any other key is a node attribute. */
export const nodearraySchema = z.looseObject(
  {
    Name: nameSchema,
    TargetCount: count.optional(),
    TargetCoreCount: count.optional(),
    TargetGroupCount: count.optional(),
    GroupCoreCount: size.optional(),
    GroupInstanceCount: size.optional(),
    MachineType: machineTypes.optional(),
    Configuration: z.record(z.string(), z.unknown(), { error: "an object" }).optional(),
    Dynamic: z.boolean({ error: "true or false" }).optional(),
    Extends: nameSchema.optional(),
    /** Read by {@link readNodeNames}. */
    NodeNames: z.unknown().optional(),
    PlacementGroup: labelSchema.optional(),
    Since: z.int({ error: MOMENT }).min(LEAST_MOMENT, { error: MOMENT }).optional(),
    "replace-when-idle": z.boolean({ error: "true or false" }).optional(),
    Together: z.boolean({ error: "true or false" }).optional(),
  },
  { error: "an object: a node array with its target" },
);

/** An entry of `nodearrays` that fits its schema. */
export type Nodearray = z.infer<typeof nodearraySchema>;

export const KNOWN_KEYS = Object.keys(nodearraySchema.shape);

/** Known keys. All others, including Configuration, go to CycleCloud unchanged. */
export const OWN_KEYS: ReadonlySet<string> = new Set(KNOWN_KEYS.filter((key) => key !== "Configuration"));
