"""An invented story of eight pages with its gists, and two questions about it, as ReadAgent's appendix C has them."""

from __future__ import annotations

STORY = (
    (
        "It was Bettany who saw the balloon first. It came down on the shingle below the customs house, grey as "
        "the sea, and out of the basket climbed a man in a coat of feathers. Rusk, the other harbour guard, held "
        "up his lantern. The stranger turned a wheel on a box that hung from his neck. The box hummed, and said, "
        "more or less, good evening.",
        "Two harbour guards, Bettany and Rusk, meet a stranger who comes down in a balloon and tries to speak to "
        "them through a humming box.",
    ),
    (
        "The box broke at once. So the stranger, who was called Orrin Vale, put a brass horn to his ear and let "
        "Rusk talk. Rusk talked for an hour, about herring and his knees, and when he was done Orrin Vale spoke "
        "the language of the coast, with every oath that Rusk had ever used. Then a goat came round the corner, "
        "and he forgot the two of them.",
        "The stranger, Orrin Vale, learns the language by listening to Rusk for an hour. He takes a great "
        "interest in a goat.",
    ),
    (
        "Before the goat could be looked at from behind, a launch came in with a colonel and forty men. The "
        "colonel had a rope put round the balloon and round the guards as well. When the stranger wished him a "
        "bloody good evening, the colonel sat down on the shingle.",
        "A launch with a colonel arrives. The colonel has the balloon roped off, and is startled to hear the "
        "stranger speak.",
    ),
    (
        "He was taken to the capital in a closed carriage, and nobody saw him for a week. The papers wrote of "
        "nothing else. Some feared what he might say, and some that he might say nothing. In the end the Council "
        "of Ports demanded that he be heard in its great hall, and the ministry named a day.",
        "Orrin Vale is taken to the capital and kept out of sight for a week. The papers are full of him. The "
        "Council of Ports demands to hear him.",
    ),
    (
        "On that day the quays were black with people who had come to be told how to live. The minister bit his "
        "nails. He knew nothing of his guest, he said, because in all that week the guest had hardly once been "
        "awake: he had slept in the ministry's best bed from Monday to Sunday, and for the rest had rolled a ball"
        " to the cat.",
        "The people wait for great words. The minister is nervous: his guest slept nearly all of the week, and "
        "else played with a cat.",
    ),
    (
        "Orrin Vale was led in. He was no envoy, he told the hall, and he had no message. He gathered beetles for"
        " a museum, three of each kind, and that was all he did. There was a silence in which one could hear the "
        "flags.",
        "Orrin Vale tells the Council that he is no envoy, and only gathers beetles for a museum.",
    ),
    (
        "Nor had he meant to come. He had been drifting among the outer islands to see what there was, he said, "
        "when the wind had turned, and it had set him down here by mistake. He called their cannons childish and "
        "their hats worse. He would take nothing from here, he said on the steps; but might he ask whether "
        "anybody had a goat?",
        "He had come by mistake, while drifting among the islands. He scolds the hall for its cannons, leaves, "
        "and asks for a goat.",
    ),
    (
        "They stood back from the ropes. The balloon rose over the customs house, and a small bell could be heard"
        " from it, as goats have them, long after there was nothing more to see.",
        "The crowd watches the balloon leave in a hurry.",
    ),
)

QUESTIONS = (
    (
        "Why did Orrin Vale land on the coast?",
        (
            "He wanted to tell the people how to live",
            "His balloon had to be mended",
            "He had heard of rare beetles there",
            "The wind set him down by mistake",
        ),
        "D",
        ([5, 6], [3, 4, 5, 6]),
    ),
    (
        "What happened to Orrin Vale while the ministry had him?",
        (
            "He learned oaths from his guards",
            "He slept nearly all of the time",
            "He learned that goats can be ridden",
            "He was too shy to speak",
        ),
        "B",
        ([3, 4], [0, 1, 3, 6]),
    ),
)
"""Question, choices, the right one, and the pages that ReadAgent and that the comparator reads."""

WRONG = ("C", "A")
"""What the paper's retrieval comparator chose."""
