import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { sanitizerFindings } from './sanitizer-findings.ts'

it('are all lines but those about threads that were ending', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'spt-'))
  try {
    expect(sanitizerFindings(directory)).toBe('')
    const ending = '==9347==Unable to get registers from thread 9156.\n'
    writeFileSync(path.join(directory, 'sanitizer.9347'), ending.repeat(2))
    expect(sanitizerFindings(directory)).toBe('')
    const leak = '==9347==ERROR: LeakSanitizer: detected memory leaks'
    writeFileSync(path.join(directory, 'sanitizer.9348'), `${ending}${leak}\n`)
    expect(sanitizerFindings(directory)).toBe(leak)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
