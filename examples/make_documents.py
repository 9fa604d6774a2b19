"""Writes the PDF and DOCX files of the sample corpus: ``python examples/make_documents.py [FOLDER]``.

The text of those files stands here, so that it can be read and changed; everything else in ``corpus/`` is written by
hand. The same versions of reportlab and python-docx give the same bytes: dates and ids are fixed.
"""

from __future__ import annotations

import sys
import zipfile
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path

from docx import Document
from docx.document import Document as DocxDocument
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer

FIXED_DATE = datetime(2026, 1, 1)
ZIP_DATE = (2026, 1, 1, 0, 0, 0)
PAGE_BREAK = "\f"
UNREAD_PARTS = ("/stylesWithEffects", "/thumbnail")


@dataclass(frozen=True)
class Source:
    """One document. In ``text``, blank lines part paragraphs, ``# `` opens a heading, ``PAGE_BREAK`` a new page.

    ``title`` goes into the file's metadata; without one, the metadata say nothing.
    """

    name: str
    text: str
    title: str = ""

    @property
    def blocks(self) -> list[str]:
        return [block.replace("\n", " ").strip(" ") for block in self.text.strip().split("\n\n")]


SOURCES = (
    Source(
        "Atlantic_Telegraph_Company.pdf",
        """
# The Atlantic Telegraph Company, 1856 to 1858

# 1. The company

The Atlantic Telegraph Company was formed in London in the autumn of 1856. Its projectors were Cyrus Field,
John Watkins Brett, Charles Tilston Bright and Wildman Whitehouse. The capital of 350,000 pounds, in shares of a
thousand pounds each, was raised within weeks. Bright became the chief engineer and Whitehouse the electrician.
William Thomson joined the board.

The British government promised 14,000 pounds a year and ships of the navy. The Congress of the United States agreed
to the same terms by a narrow vote.

The Gutta Percha Company made the core of the cable. No single works could armour all of it in time, so one half went
to Glass, Elliot and Company in Greenwich and the other to R. S. Newall and Company in Birkenhead. The two firms
twisted their iron wires in opposite directions, and the halves were awkward to join.

\f

# 2. The voyage of 1857

No ship could carry the whole cable. HMS Agamemnon took one half and USS Niagara the other. HMS Agamemnon had been the
flagship of Edmund Lyons in the Crimean War. USS Niagara was a new steam frigate, designed by George Steers, who had
also designed the yacht America.

In August 1857 the shore end was landed near Valentia Island, and USS Niagara, commanded by William Hudson, began to
pay out the cable towards the west. On 11 August 1857 the cable broke in deep water, because the brake of the
paying-out machine held it too hard. The ships turned back.

\f

# 3. The cable of 1858

In the summer of 1858 the two ships met in the middle of the ocean, so that each could lay her half towards her own
shore. On the way out a storm almost sank HMS Agamemnon. The cable parted again and again. The splice that held was
made on 29 July 1858. On 5 August 1858 HMS Agamemnon reached Valentia Island and USS Niagara reached Trinity Bay in
Newfoundland.

On 16 August 1858 Queen Victoria greeted President James Buchanan over the Atlantic cable of 1858. Her message of 98
words took sixteen hours. New York celebrated with so many fireworks that the City Hall caught fire.

The signals of the cable were read with the mirror galvanometer. They grew weaker from day to day, and after about
three weeks of use the cable failed. Eight years passed before the next message crossed.
""",
    ),
    Source(
        "Expedition_of_1865.pdf",
        """
# The expedition of 1865

In the summer of 1865 the largest ship in the world lay ready with 2,600 miles of cable in three great tanks. The
Telegraph Construction and Maintenance Company had made the Atlantic cable of 1865. It was far thicker and stronger
than the cable of 1858.

James Anderson, a captain of the Cunard Line, commanded the Great Eastern. Samuel Canning was the engineer in charge.
William Thomson and Cromwell Fleetwood Varley watched the tests for the Atlantic Telegraph Company. Cyrus Field was
the only American on board. The story of the voyage was written by William Howard Russell, who had reported the
Crimean War for The Times. The artist Robert Dudley drew the pictures for Russell's book, The Atlantic Telegraph.

The steamer Caroline laid the shore end in Foilhommerum Bay on Valentia Island. On 23 July 1865 the Great Eastern
began to pay out. Twice in the first days a fault was found, and the cable had to be hauled in again. Each time a
piece of iron wire had been driven through the gutta-percha, and some suspected that it had been done on purpose.

\f

# The loss

On 2 August 1865, while a third fault was being hauled in, the cable parted and sank in more than two thousand fathoms
of water. Valentia Island was 1,062 miles behind, and about 600 miles were left to go. For more than a week the ship
fished for it with grapnels on a wire rope. The cable was hooked several times, and every time the rope broke. A buoy
was left to mark the place, and the Great Eastern turned for home.
""",
    ),
    Source(
        "Siemens_and_the_Faraday.pdf",
        """
# A family and a ship

Werner Siemens and Johann Georg Halske founded Siemens and Halske in Berlin in 1847. The firm built the telegraph line
from Berlin to Frankfurt. Werner's younger brother William Siemens was born in Lenthe near Hanover as Carl Wilhelm. He
settled in England and led the London firm, Siemens Brothers, which made cables at Woolwich.

CS Faraday was built for Siemens Brothers by Charles Mitchell and Company on the River Tyne and launched on
17 February 1874. She was named after Michael Faraday. William Siemens designed the ship together with William Froude.
She had a bow at each end and two screws, and she could turn almost on the spot. Her two
funnels stood side by side, to leave the deck free for cable work.

Her first great task was a cable for the Direct United States Cable Company. It ran from Ballinskelligs in Ireland by
way of Nova Scotia to Rye Beach in New Hampshire and was finished in 1875. In 1879 CS Faraday laid a cable from Brest
for the Compagnie française du télégraphe de Paris à New-York.

Queen Victoria knighted William Siemens in 1883, the year of his death. Werner was raised to the nobility in 1888 and
was called Werner von Siemens from then on. CS Faraday laid cables for fifty years.
""",
        title="Siemens and the cable ship Faraday",
    ),
    Source(
        "Great_Eastern.docx",
        """
# The Great Eastern

Isambard Kingdom Brunel designed the Great Eastern for the Eastern Steam Navigation Company. She was to carry four
thousand passengers to the East and to Australia without taking on coal. John Scott Russell built the ship at Millwall
on the Thames. She was 692 feet long, with a double hull, two paddle wheels, a screw and six masts. While she was being
built she was called Leviathan.

# A hard beginning

She was built sideways to the river, and it took from November 1857 to 31 January 1858 to push her into the water.
Brunel collapsed on her deck in September 1859. A few days later an explosion on her trial trip killed several of the
stokers, and he died soon after he had heard of it. Her first captain, William Harrison, was drowned in a small boat
in 1860. The ship went to New York with a few dozen paying passengers. She never earned her keep as a liner.

# A second life

In 1864 a group led by Daniel Gooch bought the Great Eastern for 25,000 pounds. She was chartered to the Telegraph
Construction and Maintenance Company, which put three tanks for cable into her hull. No other ship could hold an ocean
cable in one piece.

When smaller ships had been built for the work she lay idle at Milford Haven. In 1886 a Liverpool department store,
Lewis's, used her for a show. The Great Eastern was broken up on the Mersey from 1889. One of her masts became the
flagpole at Anfield, the ground of Liverpool Football Club.
""",
        title="The Great Eastern",
    ),
    Source(
        "John_Pender.docx",
        """
# John Pender

John Pender was born in the Vale of Leven in Scotland on 10 September 1816. He became a textile merchant in Glasgow
and Manchester. He was one of the men who put money into the Atlantic Telegraph Company in 1856.

In 1864 John Pender became the first chairman of the Telegraph Construction and Maintenance Company, which everyone
called Telcon. To get it started he pledged a quarter of a million pounds of his own.

# Eastwards

Then he looked to India. In 1870 the British Indian Submarine Telegraph Company, which John Pender had founded, joined
Suez with Bombay. In the same year the Falmouth, Gibraltar and Malta Telegraph Company landed its cable at Porthcurno
in Cornwall, so that London could speak to Bombay without using the lines of other countries on land. In 1872
John Pender merged these companies and two others into the Eastern Telegraph Company. It grew into the largest
cable company in the world. Long after his death it became a part of Cable and Wireless.

# Later years

Pender sat in Parliament for Wick Burghs. He was knighted in 1888 and died on 7 July 1896 at Foots Cray Place in Kent.
""",
    ),
    Source(
        "Charles_Bright.docx",
        """
# Charles Tilston Bright

Charles Tilston Bright was born at Wanstead in Essex on 8 June 1832. At fifteen he entered the service of the Electric
Telegraph Company together with his brother Edward Brailsford Bright. He was not yet twenty-one when he became the
engineer of the English and Irish Magnetic Telegraph Company. In 1853 he laid a cable from Portpatrick in Scotland to
Donaghadee in Ireland.

In 1856 Charles Tilston Bright became chief engineer of the Atlantic Telegraph Company. He was knighted in Dublin in
1858, at the age of twenty-six.

# Units and other cables

In 1861 Bright went into partnership with Latimer Clark. In the same year the two of them proposed to the British
Association that electrical units should be named after men of science. The committee that took up the matter owed
much to William Thomson, later Lord Kelvin. In 1864 Charles Tilston Bright laid the Persian Gulf cable, which joined
India to the telegraphs of Europe.

# Parliament

From 1865 to 1868 Charles Tilston Bright was the member of Parliament for Greenwich. He died on 3 May 1888.
""",
        title="Charles Tilston Bright, engineer",
    ),
)


def write_documents(folder: Path) -> list[Path]:
    """Write every document of ``SOURCES`` into ``folder``; the paths, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for source in SOURCES:
        path = folder / source.name
        path.write_bytes(_pdf(source) if path.suffix == ".pdf" else _docx(source))
        paths.append(path)
    return paths


def _pdf(source: Source) -> bytes:
    styles = getSampleStyleSheet()
    body = ParagraphStyle("body", parent=styles["BodyText"], fontName="Times-Roman", fontSize=10.5, leading=14)
    story: list[Flowable] = []
    for block in source.blocks:
        if block == PAGE_BREAK:
            story.append(PageBreak())
        elif block.startswith("# "):
            story.append(Paragraph(block.removeprefix("# "), styles["Heading2"]))
        else:
            story += [Paragraph(block, body), Spacer(1, 2 * mm)]
    target = BytesIO()
    page = SimpleDocTemplate(
        target, pagesize=A5, title=source.title, author="", subject="", creator="", invariant=1, pageCompression=1
    )
    page.build(story)
    return target.getvalue()


def _docx(source: Source) -> bytes:
    document = Document()
    properties = document.core_properties
    properties.title, properties.author, properties.comments = source.title, "", ""
    properties.created = properties.modified = FIXED_DATE
    for number, block in enumerate(source.blocks):
        if block.startswith("# "):
            document.add_heading(block.removeprefix("# "), level=2 if number else 1)
        else:
            document.add_paragraph(block)
    _drop_unread_parts(document)
    raw = BytesIO()
    document.save(raw)
    return _with_fixed_dates(raw)


def _drop_unread_parts(document: DocxDocument) -> None:
    """Leave out two parts of python-docx's template that no text needs and that are half of the file."""
    for relationships in (document.part.rels, document.part.package.rels):
        for key in [key for key, each in relationships.items() if each.reltype.endswith(UNREAD_PARTS)]:
            del relationships[key]


def _with_fixed_dates(archive: BytesIO) -> bytes:
    """The same zip archive with every member dated ``ZIP_DATE``: python-docx writes the time of day into it."""
    target = BytesIO()
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            new.writestr(
                zipfile.ZipInfo(member.filename, ZIP_DATE), old.read(member), compress_type=zipfile.ZIP_DEFLATED
            )
    return target.getvalue()


if __name__ == "__main__":
    for written in write_documents(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "corpus"):
        print(written)
