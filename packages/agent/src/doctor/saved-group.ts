import { createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import type { GroupEntry } from '@spout/model/node-state'
import { LineSplitter } from '@spout/runtime/ndjson'
import { parseRecord } from '../journal-record.ts'

/** The node's part in its group as an agent last wrote it into its state file; null for none. Only reads the file. */
export async function savedGroup(stateFile: string): Promise<GroupEntry | null> {
  const exists = await access(stateFile).then(
    () => true,
    () => false,
  )
  if (!exists) return null
  const splitter = new LineSplitter()
  let group: GroupEntry | null = null
  for await (const chunk of createReadStream(stateFile))
    for (const line of splitter.push(chunk as Buffer)) {
      // Most records are large and of other entries.
      if (!line.includes('"group"')) continue
      const record = parseRecord(line)
      if (record === null) continue
      if ('put' in record && record.put.entry.kind === 'group') group = record.put.entry
      else if ('delete' in record && record.delete === 'group') group = null
    }
  return group
}
