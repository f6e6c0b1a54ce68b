/** The store's durable commits compared with plain SQLite: runs the program of the store's package. */
import path from 'node:path'
import { must } from '@spout/testkit'
import { type BenchRow, benchOptions, printRow } from './row.ts'

const PROGRAM = path.resolve(import.meta.dirname, '../packages/store/bench/store-writes-postgres.ts')
const options = benchOptions()
const output = await must([process.execPath, PROGRAM, ...(options.quick ? ['--quick'] : [])], { timeoutMs: 300_000 })
for (const line of output.split('\n').filter(Boolean)) printRow(JSON.parse(line) as BenchRow, options)
