"""Stop words by language: articles, prepositions, pronouns, auxiliaries and question words.

The lists are short and written for this project. Their words occur in nearly every passage and carry little meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_WORDS = {
    # The last ten remain after an apostrophe is split ("it's", "don't", "we'll").
    "english": """
            a an and are as at be been but by did do does for from had has have he her his how i if in into is it its me
            my no not of on or our she so such than that the their them then there these they this to us was we were
            what when where which who whom whose why will with you your s t ll re ve d m
            """,
    "german": """
            aber als am an auch auf aus bei bin bis da das dass dem den der des die doch du durch ein eine einem einen
            einer eines er es für hat ich ihr im in ist ja kein keine mit nach nicht noch nur oder sein sich sie sind so
            über um und unter vom von vor war was wer wie wird wir wo zu zum zur
            """,
    "french": """
            au aux avec ce ces cette dans de des du elle elles en est et eu il ils je la le les leur leurs lui mais me
            même mes mon ne nos notre nous on ou où par pas pour qu que qui sa se ses si son sont sur ta te tes toi ton
            tu un une vos votre vous y à été être c d j l m n s t quel quelle quels quelles
            """,
    "spanish": """
            a al como con cuando cuál de del desde donde el ella ellas ellos en entre era es esa ese eso esta este esto
            fue ha hasta hay la las le les lo los más me mi muy ni no nos o para pero por qué que quien se ser si sin
            sobre son su sus también te tiene tu un una uno y ya yo
            """,
    "italian": """
            a ad ai al alla alle anche che chi ci come con cosa da dal dalla de degli dei del della delle di dove e ed è
            era gli ha hai hanno ho i il in io l la le lei lo loro lui ma mi ne nei nel nella non o per più quale quando
            se si sono su sul sulla tra un una uno
            """,
    "portuguese": """
            a ao aos as até com como da das de do dos e ela elas ele eles em entre era essa esse esta este eu foi há
            isso já mais mas me muito na não nas nem no nos o onde os ou para pela pelo por qual quando que quem se sem
            ser seu sua são também te tem um uma você é à
            """,
    "dutch": """
            aan al als bij dan dat de der deze die dit door een en er had haar heb heeft het hij hoe hun ik in is je kan
            maar me men met mijn naar niet nog of om onder ons ook op over te tot u uit van veel voor waar was wat we
            wel wie wij wordt ze zich zij zijn zo
            """,
    "swedish": """
            alla att av de dem den det din dig du eller en er ett för från han har hon hur i inte jag kan med men mig
            min mot när nu och om oss på sig sin som så till upp ut vad var vi vid vilken är över
            """,
    "danish": """
            af at da de dem den der det dig din du efter eller en er et for fra han har hun hvad hvem hvor i ikke ind
            jeg kan man med men mig min når og også om op os over på sig sin som til ud var ved vi vil
            """,
    "norwegian": """
            alle at av da de deg dem den der det din du eller en er et etter for fra ha han har hun hva hvem hvor i ikke
            jeg kan man med meg men min når og også om opp oss over på seg sin som til ut var ved vi vil
            """,
    "russian": """
            а без бы был была были было быть в вам вас весь во вот все вы где да даже для до его ее если есть еще же за
            и из или им их к как ко когда кто ли мне мы на над не него нет но о об он она они от по под при с со так
            также то того только у уже что чтобы это я
            """,
}

STOP_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {language: frozenset(words.split()) for language, words in _WORDS.items()}
)
"""Stop words of each language, in lower case and NFC. The keys are the language names that Snowball uses."""
