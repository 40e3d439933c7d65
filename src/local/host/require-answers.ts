/** Replaces one module for `require`, as the Azure Functions worker does for its core module. */
import Module from "node:module";

/** From now on `require(id)` returns `answer` everywhere in this process, until the returned function is called. */
export function answerRequire(id: string, answer: unknown): () => void {
  const prototype: { require: (this: NodeJS.Module, id: string) => unknown } = Module.prototype;
  const original = prototype.require;
  prototype.require = function (asked) {
    return asked === id ? answer : Reflect.apply(original, this, [asked]);
  };
  return () => {
    prototype.require = original;
  };
}
