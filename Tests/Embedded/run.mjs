// node run.mjs FILE.wasm STACK_BYTES DISK_BYTES [HEAP_BYTES]
//
// Runs a program of Tests/Embedded. The heap is what the memory has between `__heap_base` and the disk, which is its end,
// or so much of it as is given.
import { readFileSync } from 'node:fs';

const [path, stackBytes, diskBytes] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
let memory;
const host = {
  put: (text, count) => process.stdout.write(Buffer.from(memory.buffer, text, count)),
  stackMost: () => {
    const stack = new Uint8Array(memory.buffer, 0, stackBytes);
    return stackBytes - stack.findIndex((byte) => byte !== 0xA5);
  },
};
const { instance } = await WebAssembly.instantiate(readFileSync(path), { host });
memory = instance.exports.memory;
// The stack comes first in memory, and grows down.
new Uint8Array(memory.buffer, 0, stackBytes).fill(0xA5);
const heap = instance.exports.__heap_base.value;
const disk = memory.buffer.byteLength - diskBytes;
const heapBytes = Math.min(disk - heap, Number(process.argv[5] ?? Infinity));
process.exit(instance.exports.program(heap, heapBytes, disk, diskBytes));
