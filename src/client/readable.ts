import { z } from "zod";

/*
 * Parts of readers for answers that are shown to users. A reader takes what it knows and can read, and leaves out the rest: an app of
 * another release may say more, or less.
 */

export const text = z.string().optional().catch(undefined);
export const number = z.number().optional().catch(undefined);
export const flag = z.boolean().optional().catch(undefined);
export const texts = z.array(z.string()).catch([]);
export const counts = z.record(z.string(), z.number()).catch({});
export const listOf = <T extends z.ZodType>(item: T) => z.array(item).catch([]);

/** What a plan does, or would do. */
export const proposal = {
  creates: listOf(z.object({ bucket: text, count: number })),
  starts: texts,
  terminates: texts,
};

export const problemPart = z.object({
  path: z.string(),
  found: z.string(),
  expected: z.string(),
  didYouMean: text,
});

export const rejectedJob = z.object({ name: text, problems: listOf(problemPart) });

/** A reader of answers with this schema. It returns undefined only if the answer is no object. */
export const reader =
  <T extends z.ZodType>(schema: T) =>
  (body: unknown): z.infer<T> | undefined =>
    schema.safeParse(body).data;
