import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { type KernelReading, readKernelFeatures } from '../readings/kernel-features.ts'

const FINDINGS = {
  FeatureMissing: {
    level: 'error',
    what: 'the kernel refuses something that every node needs: rules of nftables, kinds of interfaces',
    why: 'The agent cannot make the rules or the networks of tenants.',
    fix: '`modprobe MODULE`; where there is no such module: `apt-get install linux-image-amd64`, and restart',
  },
  FeatureLacking: {
    level: 'notice',
    what: 'the kernel refuses something that only some load balancers need',
    why: 'Those are not carried by this node.',
    fix: '`modprobe MODULE`',
  },
} as const satisfies Catalogue

export const judgeKernel = ({ refused }: KernelReading): readonly Found<keyof typeof FINDINGS>[] =>
  refused.map(({ feature: { name, lost, module, needed }, error }) => ({
    code: needed === 'always' ? 'FeatureMissing' : 'FeatureLacking',
    subject: name,
    message: `Without it ${lost}. The kernel says: ${error}`,
    fix: `modprobe ${module}`,
  }))

export const kernel = checkOf({
  name: 'kernel',
  catalogue: FINDINGS,
  read: readKernelFeatures,
  judge: judgeKernel,
  right: ({ tried }) => `It has the ${tried} features that were tried.`,
})
