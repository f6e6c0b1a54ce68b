import { describe, expect, it } from 'vitest'
import { dataFrame, FrameReader, pingFrame, replyFrame } from './frame.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

describe('frames of SPDY', () => {
  it('are read however the bytes are cut', () => {
    const bytes = hex(
      '80030001 0000000c 00000005 00000000 0000 abcd' +
        '00000005 01000002 6869 80030006 00000004 00000007' +
        '80030003 00000008 00000005 00000005 80030004 00000000',
    )
    const frames = [
      { type: 'open', stream: 5, isLast: false, headers: hex('abcd') },
      { type: 'data', stream: 5, isLast: true, data: Buffer.from('hi') },
      { type: 'ping', id: 7 },
      { type: 'reset', stream: 5 },
      { type: 'other' },
    ]
    expect(new FrameReader().read(bytes)).toEqual(frames)
    const reader = new FrameReader()
    expect([...bytes].flatMap((byte) => reader.read(Buffer.from([byte])))).toEqual(frames)
  })

  it('are written as they are read', () => {
    expect(dataFrame(3, Buffer.from('ho'), false)).toEqual(hex('00000003 00000002 686f'))
    expect(new FrameReader().read(dataFrame(3, Buffer.alloc(0), true))).toMatchObject([{ stream: 3, isLast: true }])
    expect(pingFrame(7)).toEqual(hex('80030006 00000004 00000007'))
    expect(replyFrame(1, hex('ff'))).toEqual(hex('80030002 00000005 00000001 ff'))
  })

  it('are refused in another version', () => {
    expect(() => new FrameReader().read(hex('80020006 00000004 00000007'))).toThrow('SPDY/2 is not known')
  })
})
