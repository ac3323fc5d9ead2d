import type { ObjectInventory } from '../../ports/inventory.ts'
import type { CheckSignature, Signer } from '../../ports/signer.ts'
import type { CopyTools } from './backup.ts'

/** What proving, signing, clearing away and copying need of the world. `home` is a folder such as `.assay`. */
export interface Keeping extends CopyTools {
  inventory(home: string): ObjectInventory
  /** Texts of a home, outside its journal, that name objects: records of workspaces. */
  records(home: string): Iterable<string>
  /** The owner's key, made on first use. */
  signer(): Signer
  /** Its public half; undefined where there is none yet. */
  ownKey(): string | undefined
  /** A public key as somebody handed it over; undefined where it is none. */
  readKey(text: string): string | undefined
  /** A public key as it is handed over. */
  writeKey(publicKey: string): string
  check: CheckSignature
}
