import { expect, test } from "vitest";
import { play } from "./play.ts";
import { STORIES } from "./stories.ts";
import { inMemory } from "./stores.ts";

test.each(STORIES)("$name", async (story) => {
  expect((await play(story, inMemory)).differences).toEqual([]);
});
