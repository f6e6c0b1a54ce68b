import { type Catalogue, checkOf, type Found, runbook } from '@spout/runtime/findings'
import { type ElectionsReading, readElections } from '../readings/elections.ts'

const FINDINGS = {
  ShardStopped: {
    level: 'error',
    what: 'no keepalived runs for a VRRP shard of this node',
    why: 'If the other nodes fail, nobody announces its addresses.',
    fix: '`systemctl restart spout-agent`',
  },
  AdvertsUnheeded: {
    level: 'error',
    what: 'adverts of another master of a shard arrive, and this node remains master, too',
    why: 'Something between the interface and keepalived drops them. Both nodes announce the addresses of the shard.',
    fix: '`nft list ruleset` shows what drops IP protocol 112; `nft insert rule FAMILY TABLE CHAIN meta l4proto 112 accept`',
  },
  NoMasterHeard: {
    level: 'error',
    what: 'this node is backup of a shard, and no advert of a master arrives',
    why: 'It will take the shard over within the next adverts, or keepalived hangs.',
    fix: '`systemctl restart spout-agent`, if it stays so',
  },
  PeerSilent: {
    level: 'warning',
    what: 'another node of the group does not answer on the fabric',
    why: 'Neither takes over from the other. If it runs, the segment is cut, and both announce the same addresses.',
    fix: 'on that node: `ip link`, `spout-agent doctor`',
  },
} as const satisfies Catalogue

/** Two masters that hear each other agree after one advert; a planned move has two for a moment. */
const SEVERAL = 5

export function judgeElections(reading: ElectionsReading): readonly Found<keyof typeof FINDINGS>[] {
  if (reading === null) return []
  const { shards, peers, listenedMs } = reading
  const ofShards = shards.flatMap(({ shard, state, heard }): readonly Found<keyof typeof FINDINGS>[] => {
    const subject = `shard ${shard}`
    if (state === 'stopped')
      return [{ code: 'ShardStopped', subject, message: 'It is not running.', fix: 'systemctl restart spout-agent' }]
    if (state === 'backup' && heard.length === 0 && peers.length > 0)
      return [
        {
          ...{ code: 'NoMasterHeard', subject, fix: 'systemctl restart spout-agent' },
          message: `No advert arrived within ${listenedMs} ms, and this node is backup.`,
        },
      ]
    const masters = state === 'master' ? heard.filter(({ adverts }) => adverts >= SEVERAL) : []
    return masters.map(({ peer, adverts }) => ({
      ...{ code: 'AdvertsUnheeded', subject, fix: `nft list ruleset; ${runbook('Two nodes own a shard')}` },
      message: `${adverts} adverts of ${peer} arrived within ${listenedMs} ms, and this node is master as well.`,
    }))
  })
  const silent = peers
    .filter(({ answers }) => !answers)
    .map(
      ({ address }): Found<'PeerSilent'> => ({
        ...{ code: 'PeerSilent', subject: address, message: 'It does not answer on the fabric.' },
        fix: 'on that node: ip link; spout-agent doctor',
      }),
    )
  return [...ofShards, ...silent]
}

export const elections = checkOf({
  name: 'vrrp',
  catalogue: FINDINGS,
  read: readElections,
  judge: judgeElections,
  right: (reading) => {
    if (reading === null) return 'The node takes part in no VRRP shard.'
    const masters = reading.shards.filter(({ state }) => state === 'master').length
    return `Master of ${masters} of ${reading.shards.length} shards; ${reading.peers.length} other nodes answer.`
  },
})
