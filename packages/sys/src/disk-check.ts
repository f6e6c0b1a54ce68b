import { type Catalogue, type Check, checkOf, type Found } from '@spout/runtime/findings'
import { type DirectoryRoom, readRoom } from './directory-room.ts'

const FINDINGS = {
  DiskFull: {
    level: 'error',
    what: 'a file system of the process has less than 2 % of its space or its files left, or less than 32 MB',
    why: 'It cannot write its state: changes fail, and a node begins with old state after a restart.',
    fix: '`du -xh -d 2 DIRECTORY | sort -h | tail`, and make room',
  },
  DiskFilling: {
    level: 'warning',
    what: 'a file system of the process has less than 10 % of its space or its files left',
    why: 'When it is full, changes fail.',
    fix: '`du -xh -d 2 DIRECTORY | sort -h | tail`, and make room',
  },
} as const satisfies Catalogue

const FULL = { share: 0.02, bytes: 32 * 2 ** 20 }
const FILLING_SHARE = 0.1

/** Directories of one file system are said once. */
export function judgeRoom(rooms: readonly DirectoryRoom[]): readonly Found<keyof typeof FINDINGS>[] {
  const first = rooms.filter((room, index) => rooms.findIndex(({ device }) => device === room.device) === index)
  return first.flatMap((room) => {
    const { mount, freeBytes, totalBytes, freeFiles, totalFiles } = room
    const share = Math.min(part(freeBytes, totalBytes), part(freeFiles, totalFiles))
    const isFull = share < FULL.share || freeBytes < FULL.bytes
    if (!isFull && share >= FILLING_SHARE) return []
    const files = totalFiles === 0 ? '' : ` and ${freeFiles} of ${totalFiles} files`
    return [
      {
        code: isFull ? 'DiskFull' : 'DiskFilling',
        subject: room.directory,
        message: `${megabytes(freeBytes)} of ${megabytes(totalBytes)} MB${files} are left on ${mount}.`,
        fix: `du -xh -d 2 ${mount} | sort -h | tail`,
      },
    ]
  })
}

/** File systems without a limit say 0. */
const part = (free: number, total: number): number => (total === 0 ? 1 : free / total)
const megabytes = (bytes: number): number => Math.floor(bytes / 2 ** 20)

/** Whether there is room in the directories of a place. */
export const diskCheck = <Place>(directoriesOf: (place: Place) => readonly string[]): Check<Place> =>
  checkOf({
    name: 'disk',
    catalogue: FINDINGS,
    read: (place: Place) => readRoom(directoriesOf(place)),
    judge: judgeRoom,
    right: (rooms) =>
      `There is room in ${rooms.length === 1 ? 'the directory' : `the ${rooms.length} directories`} that it writes.`,
  })
