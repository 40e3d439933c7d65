import { expect, test } from "vitest";
import { autostopPath, verifyToken } from "../../../src/decide/autostop/autostop-token.ts";
import { arrayName, clusterName } from "../../../src/domain/ids.ts";

const keys = {
  current: "k2",
  byId: new Map([
    ["k1", "old secret"],
    ["k2", "new secret"],
  ]),
};
const cluster = clusterName("HPC prod");
const arrays = [arrayName("htc"), arrayName("hpc")];

// Worked out apart: printf 'HPC prod\nhtc' | openssl dgst -sha256 -hmac 'new secret' -binary | head -c 16 | basenc --base64url
const htcToken = "k2.HgC5fRCW-KEZDgT24FDhjA";
const oldHpcToken = "k1.ODVvZKplvIqb6cFni-U4ug";

test("the URL holds the cluster, encoded, and the token of the current key", () => {
  expect(autostopPath("https://scaler.example/", cluster, arrayName("htc"), keys)).toBe(
    `https://scaler.example/api/autostop/HPC%20prod/${htcToken}`,
  );
});

test("a current key that is not there is an error, not an unsigned URL", () => {
  expect(() =>
    autostopPath("https://scaler.example", cluster, arrayName("htc"), { ...keys, current: "k3" }),
  ).toThrow("no autostop key has the id k3");
});

test.each([
  { name: "of the current key", token: htcToken, array: "htc" },
  { name: "of an older key that still counts", token: oldHpcToken, array: "hpc" },
  { name: "of a key that has retired", token: htcToken.replace("k2.", "k0."), array: undefined },
  { name: "signed with another key than it says", token: htcToken.replace("k2.", "k1."), array: undefined },
  { name: "with one character changed", token: `k2.A${htcToken.slice(4)}`, array: undefined },
  { name: "cut short", token: htcToken.slice(0, -1), array: undefined },
  { name: "with something behind it", token: `${htcToken}A`, array: undefined },
  { name: "with a stray character that decoders skip", token: `${htcToken}=`, array: undefined },
  { name: "without a key id", token: htcToken.slice(3), array: undefined },
  { name: "that is empty", token: "", array: undefined },
])("a token $name", ({ token, array }) => {
  expect(verifyToken(token, cluster, arrays, keys)).toBe(array);
});

test("a token is worth nothing in another cluster", () => {
  const clusters = [cluster, clusterName("HPC test")];
  const tokens = clusters.map((one) => autostopPath("", one, arrayName("htc"), keys).split("/").at(-1) ?? "");
  expect(tokens.map((token) => clusters.map((one) => verifyToken(token, one, arrays, keys)))).toEqual([
    ["htc", undefined],
    [undefined, "htc"],
  ]);
});

test("a token of an array that the cluster does not have is refused", () => {
  expect(verifyToken(htcToken, cluster, [arrayName("hpc")], keys)).toBeUndefined();
});
