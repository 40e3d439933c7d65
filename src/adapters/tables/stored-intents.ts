import type { CreateSet, Effect, Intent } from "../../domain/intent.ts";

/**
 * The stored form of intents: a create of several sets is one entry for each set, all with the same id. The release before this one knows
 * only requests with one set. It settles such entries one after the other, and at worst waits for nodes that do not come.
 */
export type StoredIntent = Omit<Intent, "effect"> & { readonly effect: StoredEffect };
type StoredEffect = Exclude<Effect, { readonly kind: "create" }> | StoredCreate;
type StoredCreate = CreateSet & { readonly kind: "create" };

export function storedIntents(intents: readonly Intent[]): readonly StoredIntent[] {
  return intents.flatMap((intent): readonly StoredIntent[] => {
    const { effect } = intent;
    if (effect.kind !== "create") return [{ ...intent, effect }];
    return effect.sets.map((set) => ({ ...intent, effect: { kind: effect.kind, ...set } }));
  });
}

/** Entries with one id appear in the record once, at the position of the first. */
export function readIntents(stored: readonly StoredIntent[]): readonly Intent[] {
  const sets = new Map<Intent["id"], CreateSet[]>();
  const read: Intent[] = [];
  for (const intent of stored) {
    const { effect } = intent;
    if (effect.kind !== "create") {
      read.push({ ...intent, effect });
      continue;
    }
    const { kind, ...set } = effect;
    const known = sets.get(intent.id);
    if (known !== undefined) {
      known.push(set);
      continue;
    }
    const all = [set];
    sets.set(intent.id, all);
    read.push({ ...intent, effect: { kind, sets: all } });
  }
  return read;
}
