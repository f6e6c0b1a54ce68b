import { readdir } from 'node:fs/promises'
import path from 'node:path'

const NAME = /^audit-(\d{8})\.jsonl$/

export const fileOf = (directory: string, number: number): string =>
  path.join(directory, `audit-${String(number).padStart(8, '0')}.jsonl`)

/** Numbers of the existing files, oldest first. */
export async function fileNumbers(directory: string): Promise<readonly number[]> {
  const names = await readdir(directory)
  return names
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}
