/** Answers `require` of one module id with a value of ours, in the way that the Azure Functions worker supplies its core module. */
import Module from "node:module";

/** From now on `require(id)`, anywhere in this process, gives `answer`. Returns what undoes it. */
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
