import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Announcement, AnnouncementDifference, Announcer } from '../contracts/announcer.ts'

/** Where a lab's announcer works, and somebody on each segment who looks for addresses. */
export interface AnnouncerLab {
  /** What it can announce: at least two, of each scope and family that it knows. */
  readonly announcements: readonly Announcement[]
  /** What it cannot announce. */
  readonly refused: Announcement
  /** The announcer as an agent that has just started has it. The one before was dropped as it stood, not closed. */
  restart(): Promise<Announcer>
  /** Whether somebody on the segment who asks anew finds the address. */
  isFound(announcement: Announcement): Promise<boolean>
  /** Withdraws the announcement behind the announcer's back. */
  meddle(announcement: Announcement): Promise<void>
  /**
   * Binds what it announces on the fabric to another interface of the node, as kube-proxy in mode ipvs does, until it is
   * disposed of. Missing if nobody asks a segment for what it announces.
   */
  bindElsewhere?(): Promise<AsyncDisposable>
  /** It knows what an earlier process announced by what it is told alone: the rest stays as it is. */
  readonly keepsStrangers?: true
  /** How often the present announcer changed something on the machine. */
  changes(): number
  end(): Promise<void>
}

/** Far beyond what any announcer needs to be heard. */
const HEARD_WITHIN_MS = 10_000

/** The contract of `Announcer`, run over one announcer: whoever looks for an address finds what `apply` was given. */
export function describeAnnouncer(name: string, make: () => Promise<AnnouncerLab>): void {
  describe(`Announcer: ${name}`, () => {
    const signal = new AbortController().signal
    let lab: AnnouncerLab
    let announcer: Announcer

    beforeAll(async () => {
      lab = await make()
    })
    afterAll(() => lab?.end())
    beforeEach(async () => {
      announcer = await lab.restart()
      await announcer.adopt([])
    })
    afterEach(async () => {
      await announcer.apply([], signal)
      await announcer.close()
    })

    const apply = async (wanted: readonly Announcement[]): Promise<void> =>
      expect(await announcer.apply(wanted, signal)).toEqual(
        wanted.map((announcement) => ({ announcement, error: null })),
      )
    const found = async (): Promise<readonly Announcement[]> => {
      const answers = await Promise.all(lab.announcements.map((each) => lab.isFound(each)))
      return lab.announcements.filter((_, index) => answers[index])
    }
    const expectFound = (wanted: readonly Announcement[]) =>
      expect.poll(found, { timeout: HEARD_WITHIN_MS }).toEqual(wanted)

    /** A set has no order. */
    const expectObserved = async (wanted: readonly Announcement[]) => {
      const observed = await announcer.observe()
      expect(observed).toHaveLength(wanted.length)
      expect(observed).toEqual(expect.arrayContaining([...wanted]))
    }

    it('announces the whole set it is given, and that alone', async () => {
      const [first, ...others] = lab.announcements
      await apply(lab.announcements)
      await expectFound(lab.announcements)
      await apply(others)
      await expectFound(others)
      await apply([first!])
      await expectFound([first!])
      await apply([])
      await expectFound([])
      await expectObserved([])
    })

    it('does nothing for what it announces already', async () => {
      await apply(lab.announcements)
      const before = lab.changes()
      await apply(lab.announcements.toReversed())
      expect(lab.changes()).toBe(before)
    })

    it('reports what it cannot announce, with words, and announces the others', async () => {
      const outcomes = await announcer.apply([lab.refused, ...lab.announcements], signal)
      expect(outcomes).toEqual([
        { announcement: lab.refused, error: expect.stringMatching(/\w/) },
        ...lab.announcements.map((announcement) => ({ announcement, error: null })),
      ])
      await expectFound(lab.announcements)
      await expectObserved(lab.announcements)
    })

    it('adopts what an earlier process announced, without a change', async () => {
      const [first] = lab.announcements
      await apply(lab.announcements)
      announcer = await lab.restart()
      await announcer.adopt(lab.announcements)
      await apply(lab.announcements)
      expect(lab.changes()).toBe(0)
      await expectFound(lab.announcements)
      await apply([first!])
      await expectFound([first!])
    })

    it('announces what kube-proxy has bound on the node, and that alone makes it known', async (context) => {
      context.skip(lab.bindElsewhere === undefined, 'it answers nobody who asks for an address')
      await using _bound = await lab.bindElsewhere?.()
      await expectFound([])
      await apply(lab.announcements)
      await expectFound(lab.announcements)
      await expectObserved(lab.announcements)
      await apply([])
      await expectFound([])
    })

    describe('told the difference alone', () => {
      beforeEach((context) => context.skip(announcer.change === undefined, 'it is always given the whole set'))

      const change = async (difference: Partial<AnnouncementDifference>): Promise<void> => {
        const outcomes = await announcer.change?.({ come: [], go: [], ...difference }, signal)
        expect(outcomes).toEqual((difference.come ?? []).map((announcement) => ({ announcement, error: null })))
      }

      it('comes to the same as given the whole set', async () => {
        const [first, ...others] = lab.announcements
        await change({ come: others })
        await expectFound(others)
        await change({ come: [first!], go: others })
        await expectFound([first!])
        await expectObserved([first!])
        const before = lab.changes()
        await apply([first!])
        expect(lab.changes()).toBe(before)
      })

      it('reports what it cannot announce, with words, and announces the others', async () => {
        const [first, ...others] = lab.announcements
        await change({ come: [first!] })
        expect(await announcer.change?.({ come: [lab.refused, ...others], go: [] }, signal)).toEqual([
          { announcement: lab.refused, error: expect.stringMatching(/\w/) },
          ...others.map((announcement) => ({ announcement, error: null })),
        ])
        await expectFound(lab.announcements)
        await expectObserved(lab.announcements)
      })

      it('announces again what was withdrawn behind its back', () =>
        bringsBackWhatWasWithdrawn((lost) => change({ come: [lost] })))

      it('leaves nothing of an earlier process that nobody wants', async (context) => {
        context.skip(lab.keepsStrangers === true, 'it leaves to others what it was not told of')
        const [stranger, gone, ...others] = lab.announcements
        await apply(lab.announcements)
        announcer = await lab.restart()
        await announcer.adopt([gone!, ...others])
        await change({ go: [gone!] })
        await expectFound(others)
        await change({ come: [stranger!] })
        await expectFound([stranger!, ...others])
      })
    })

    it('announces again what was withdrawn behind its back', () =>
      bringsBackWhatWasWithdrawn(() => apply(lab.announcements)))

    async function bringsBackWhatWasWithdrawn(bringBack: (lost: Announcement) => Promise<void>): Promise<void> {
      const [lost, ...others] = lab.announcements
      await apply(lab.announcements)
      await lab.meddle(lost!)
      await expectFound(others)
      await expectObserved(others)
      await bringBack(lost!)
      await expectFound(lab.announcements)
      await expectObserved(lab.announcements)
    }
  })
}
