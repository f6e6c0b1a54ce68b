import { describe, expect, test } from 'vitest'
import { ExecError, exec, execOk } from './exec.ts'

describe('exec', () => {
  test('tells status, output and error output', async () => {
    const result = await exec([process.execPath, '-e', 'console.log("out"); console.error("err"); process.exit(3)'])
    expect(result).toEqual({
      code: 3,
      signal: null,
      timedOut: false,
      stdout: 'out\n',
      stderr: 'err\n',
      droppedBytes: 0,
    })
  })

  test('passes arguments as they are', async () => {
    expect(await execOk(['printf', '%s', '$(id); "x" *'])).toBe('$(id); "x" *')
  })

  test('writes input and gives a plain environment', async () => {
    expect(await execOk(['cat'], { input: 'text' })).toBe('text')
    expect((await execOk(['env'])).split('\n').sort()).toEqual(['', 'LC_ALL=C', expect.stringMatching(/^PATH=/)])
  })

  test('bounds the output it keeps', async () => {
    const result = await exec([process.execPath, '-e', 'process.stdout.write("x".repeat(300000))'], {
      maxOutputBytes: 1000,
    })
    expect(result).toMatchObject({ code: 0, stdout: 'x'.repeat(1000), droppedBytes: 299_000 })
  })

  test('kills what takes too long, also when a grandchild holds the pipes', async () => {
    const result = await exec(['timeout', '60', 'sleep', '60'], { timeoutMs: 50 })
    expect(result).toMatchObject({ code: null, signal: 'SIGKILL', timedOut: true })
  })

  test('rejects with the words of a command that fails or cannot start', async () => {
    await expect(execOk(['ls', '/absent'])).rejects.toThrow(/^ls: exit 2: .*No such file or directory/)
    await expect(exec(['/absent/command'])).rejects.toThrow(ExecError)
  })
})
