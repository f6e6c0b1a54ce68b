/**
 * Node.js' module `http`. Programs that only serve, or call with `http` and `https`, take it from here.
 *
 * `import … from 'node:http'` reads each export of the module, and three of them load the whole of undici: 80 ms of
 * processor time and 5 to 8 MB of resident memory in a process of ours (Node.js 26.10). Types are free: `import type`.
 */
export const http = process.getBuiltinModule('node:http')
