import { z } from "zod";
import { showLines, showText } from "../domain/shown.ts";

export { hideSecrets } from "../domain/secrets.ts";
export { showJson, showLines, showText } from "../domain/shown.ts";

/*
 * Parts of readers for answers that are shown to users. A reader takes what it knows and can read, and leaves out the rest: an app of
 * another release may say more, or less. No text of theirs acts on a terminal, or begins a line of its own.
 */

/** A text of one line, as {@link showText} shows it. */
export const shown = z.string().transform(showText);
/** A text that the app has put into lines. */
export const lines = z.string().transform(showLines).optional().catch(undefined);
export const text = shown.optional().catch(undefined);
export const number = z.number().optional().catch(undefined);
export const flag = z.boolean().optional().catch(undefined);
export const texts = z.array(shown).catch([]);
export const counts = z
  .record(z.string(), z.number())
  .transform((byName) =>
    Object.fromEntries(
      Object.entries(byName).map(([name, count]): [string, number] => [showText(name), count]),
    ),
  )
  .catch({});
export const listOf = <T extends z.ZodType>(item: T) => z.array(item).catch([]);

/** What a plan does, or would do. */
export const proposal = {
  creates: listOf(z.object({ bucket: text, count: number })),
  starts: texts,
  terminates: texts,
};

export const problemPart = z.object({
  path: shown,
  found: shown,
  expected: shown,
  didYouMean: text,
});

export const rejectedJob = z.object({ name: text, problems: listOf(problemPart) });

/**
 * Makes a reader of the answer `A` with this schema. The reader returns undefined only if the answer is no object. A member of the schema
 * that the answer does not have, at any depth, is an error of the compiler.
 */
export const readerOf =
  <A>() =>
  <S extends z.ZodType>(schema: S & Checked<Unknown<z.infer<S>, A>>) =>
  (body: unknown): z.infer<S> | undefined =>
    schema.safeParse(body).data;

type Checked<U> = [U] extends [never] ? unknown : { readonly unknownMembers: U };

/** The paths of members that `R` reads and that the answer `A` does not have. Records are read as a whole. */
type Unknown<R, A, P extends string = ""> =
  NonNullable<R> extends readonly (infer RI)[]
    ? Unknown<RI, ItemOf<NonNullable<A>>, P>
    : NonNullable<R> extends object
      ? string extends keyof NonNullable<R>
        ? never
        : UnknownMembers<NonNullable<R>, NonNullable<A>, P>
      : never;

type UnknownMembers<R, A, P extends string> = {
  [K in keyof R & string]: K extends KeyOf<A> ? Unknown<R[K], MemberOf<A, K>, `${P}${K}.`> : `${P}${K}`;
}[keyof R & string];

/** The same for each of several forms of an answer. */
type KeyOf<A> = A extends unknown ? keyof A : never;
type MemberOf<A, K> = A extends unknown ? (K extends keyof A ? A[K] : never) : never;
type ItemOf<A> = A extends readonly (infer I)[] ? I : never;
