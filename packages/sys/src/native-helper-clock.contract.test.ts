import { expect, test } from 'vitest'
import { execOk } from './exec.ts'
import { startHelperUnderTest } from './testing/helper-under-test.ts'
import { BUILDS } from './testing/native-builds.ts'

/** The kernel's answer by the C library, without our program: `status` of `struct timex` (man 2 adjtimex) without STA_UNSYNC. */
const SYNCHRONISED = `
import ctypes, struct
state = ctypes.create_string_buffer(208)
assert ctypes.CDLL(None, use_errno=True).adjtimex(state) >= 0
print(struct.unpack_from('=i', state, 40)[0] & 0x0040 == 0)`

test.each(BUILDS)('says whether the clock is kept right, $name build', async ({ name, path }) => {
  const on = await startHelperUnderTest(path, `clock-${name[0]}`)
  try {
    const told = (await execOk(['python3', '-c', SYNCHRONISED])).trim()
    expect(await on.helper.clockState()).toEqual({ synchronised: told === 'True' })
  } finally {
    expect(await on.end()).toEqual([])
  }
})
