"""Hand-written vocabulary of the synthetic records: names, places, goods, amenities, reviews."""

from __future__ import annotations

from model.english import WEEKDAYS, word_list


def _lines(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


FIRST = word_list(
    "Ada Bruno Celia Dario Edith Felix Greta Hugo Irene Jonas Karin Leo Mona Nils Olga Pablo Quinn Rita Stefan "
    "Tara Ugo Vera Walter Xenia Yusuf Zoe Amir Bella Carlos Dana Elif Farid Gina Hana Igor Jade Kofi Lena Marta "
    "Noor Omar Priya Rosa Sami"
)
LAST = word_list(
    "Abbott Barlow Castell Dorsey Ekberg Fontaine Galloway Hartmann Ingram Jansen Kessler Lindqvist Moreau Novak "
    "Okafor Petrov Quigley Rossi Sandoval Tanaka Ullman Vargas Whitlock Xu Yilmaz Zeller Adeyemi Brandt Chandra "
    "Delgado Eriksen"
)
CITIES = _lines(
    "Arden Falls, Brookhaven, Calder, Dunmore, Eastport, Fairview, Glenrock, Harlow, Ironton, Juniper Bay, "
    "Kingsley, Larkspur, Millbrook, Northgate, Oakhurst, Pinecrest, Quarry Hill, Riverton, Stonebridge, "
    "Thornbury, Upland, Vista Mar, Westlake, Yarrow, Santa Lucia, Port Ellis, New Haddon, Cedar Point"
)
STATES = word_list("CA TX FL PA OH NV AZ MO TN IN LA NJ ID OR WA NY IL GA")
STREETS = _lines(
    "Maple Ave, State St, Harbor Rd, Main St, Lincoln Blvd, Second St, Mill Ln, Orchard Way, Canal St, Prospect Ave, "
    "Hollister Ave, Market St, Chapel Hill Rd, River Dr, Garden St, Union Sq, Foundry Row, Sunset Blvd"
)
ADJECTIVES = _lines(
    "Golden, Silver, Blue, Rusty, Old, Lucky, Happy, Crimson, Little, Hidden, Corner, Twin, Green, Sunny, Royal, Wild, "
    "Copper, Velvet, Humble, Salty, Smoky, Iron, Paper, Northern, Secret"
)
NOUNS = _lines(
    "Lantern, Anchor, Fork, Spoon, Olive, Pepper, Dragon, Rooster, Bull, Lemon, Harvest, Table, Garden, Kettle, "
    "Barrel, Compass, Magnolia, Lotus, Sparrow, Fox, Walnut, Basil, Oyster, Cactus, Pearl, Hearth, Bridge, "
    "Willow, Ember"
)
KINDS = _lines(
    "Cafe, Bistro, Grill, Diner, Kitchen, Tavern, Bakery, Pizzeria, Taqueria, Noodle House, Steakhouse, Coffee Bar, "
    "Sushi Bar, Brewery, Tea Room, Deli, Smokehouse, Wine Bar, Ice Cream Parlor"
)
CATEGORIES = _lines(
    "Italian, Mexican, Thai, Japanese, Indian, Greek, French, Vietnamese, Korean, Ethiopian, Seafood, "
    "Steakhouses, Burgers, Pizza, Vegan, Vegetarian, Breakfast & Brunch, Sandwiches, Coffee & Tea, Bakeries, "
    "Desserts, Cocktail Bars, Wine Bars, Beer Gardens, Barbeque, Soup, Salad, Tacos, Sushi Bars, Juice Bars, "
    "Delis, Tapas, Mediterranean, Caterers"
)
DISHES = _lines(
    "lobster roll, mushroom risotto, fish tacos, pad thai, clam chowder, lamb shank, veggie burger, pulled pork, "
    "ramen, tiramisu, carrot cake, espresso, cold brew, house salad, garlic bread, spicy noodles, grilled "
    "octopus, pancakes, chicken curry, dumplings, ribeye, falafel, apple pie, lentil soup, shrimp scampi, beef "
    "brisket, breakfast burrito, sangria"
)
PRAISE = _lines(
    "delicious, excellent, amazing, perfectly cooked, fresh, outstanding, full of flavor, the best I have had"
)
BLAME = _lines("bland, cold, overcooked, disappointing, too salty, greasy, overpriced, dry, soggy")
STAFF_GOOD = _lines("friendly, attentive, welcoming, quick, helpful, polite")
STAFF_BAD = _lines("rude, slow, inattentive, unfriendly, careless, disorganized")
DAYS = tuple(day.capitalize() for day in WEEKDAYS)
# Record key -> predicate about a place if the value is true, and if it is false.
AMENITIES = {
    "RestaurantsReservations": ("takes reservations", "does not take reservations"),
    "RestaurantsTakeOut": ("offers takeout", "does not offer takeout"),
    "RestaurantsDelivery": ("offers delivery", "does not offer delivery"),
    "OutdoorSeating": ("has outdoor seating", "has no outdoor seating"),
    "RestaurantsGoodForGroups": ("is good for groups", "is not suitable for groups"),
    "GoodForKids": ("is good for kids", "is not recommended for kids"),
    "DogsAllowed": ("allows dogs", "does not allow dogs"),
    "BikeParking": ("has bike parking", "has no bike parking"),
    "WheelchairAccessible": ("is wheelchair accessible", "is not wheelchair accessible"),
    "HasTV": ("has a TV", "does not have a TV"),
    "HappyHour": ("has a happy hour", "does not have a happy hour"),
    "BusinessAcceptsCreditCards": ("accepts credit cards", "does not accept credit cards"),
    "Caters": ("provides catering", "does not provide catering"),
    "DriveThru": ("has a drive-through", "has no drive-through"),
    "LiveMusic": ("has live music", "has no live music"),
}
PARKING = {"garage": "a parking garage", "street": "street parking", "validated": "validated parking",
           "lot": "a parking lot", "valet": "valet parking"}  # fmt: skip
AMBIENCE = word_list("romantic intimate classy hipster divey touristy trendy upscale casual")
WIFI = {"free": "free Wi-Fi", "paid": "paid Wi-Fi", "no": "no Wi-Fi"}
NOISE = word_list("quiet average loud")
ATTIRE = word_list("casual dressy formal")
ALCOHOL = {"full_bar": "a full bar", "beer_and_wine": "beer and wine", "none": "no alcohol"}
BRANDS = word_list(
    "Novatek Lumen Orbix Zephyra Kestrel Polaron Vantix Halden Miravo Cobalt Stratos Ferrum Aurelia Tessera"
)
GOODS = {
    "laptop": ("screen size", "memory", "storage", "battery life", "weight"),
    "phone": ("screen size", "memory", "storage", "battery capacity", "weight"),
    "camera": ("resolution", "zoom", "weight", "battery life"),
    "washing machine": ("capacity", "spin speed", "energy class", "noise"),
    "bicycle": ("frame size", "gears", "weight", "wheel size"),
    "headphones": ("battery life", "weight", "impedance", "cable length"),
    "vacuum cleaner": ("power", "capacity", "noise", "cable length"),
    "tent": ("persons", "weight", "height", "water column"),
}
MEASURES = {
    "screen size": ("6.1 inches", "6.7 inches", "13.3 inches", "14 inches", "15.6 inches"),
    "memory": ("4 GB", "8 GB", "12 GB", "16 GB", "32 GB"),
    "storage": ("64 GB", "128 GB", "256 GB", "512 GB", "1 TB"),
    "battery life": ("6 hours", "9 hours", "11 hours", "14 hours", "20 hours", "30 hours"),
    "battery capacity": ("3,200 mAh", "4,000 mAh", "4,500 mAh", "5,000 mAh"),
    "weight": ("180 g", "240 g", "1.2 kg", "1.4 kg", "2.1 kg", "9.8 kg", "12.5 kg"),
    "resolution": ("12 megapixels", "20 megapixels", "24 megapixels", "45 megapixels"),
    "zoom": ("3x", "5x", "10x", "24x"),
    "capacity": ("1.5 litres", "2 litres", "6 kg", "7 kg", "9 kg"),
    "spin speed": ("1000 rpm", "1200 rpm", "1400 rpm", "1600 rpm"),
    "energy class": ("A", "B", "C", "D"),
    "noise": ("48 dB", "56 dB", "62 dB", "71 dB", "78 dB"),
    "frame size": ("48 cm", "52 cm", "56 cm", "60 cm"),
    "gears": ("7", "8", "11", "18", "21", "27"),
    "wheel size": ("26 inches", "27.5 inches", "28 inches", "29 inches"),
    "impedance": ("16 ohms", "32 ohms", "80 ohms", "250 ohms"),
    "cable length": ("1.2 m", "3 m", "5 m", "7.5 m"),
    "power": ("450 W", "600 W", "750 W", "900 W"),
    "persons": ("1", "2", "3", "4", "6"),
    "height": ("95 cm", "110 cm", "130 cm", "195 cm"),
    "water column": ("2,000 mm", "3,000 mm", "4,000 mm", "5,000 mm"),
}
COLORS = word_list("black white silver blue red green grey orange")
JOBS = _lines(
    "architect, violinist, biologist, historian, goalkeeper, novelist, engineer, painter, chemist, journalist, judge, "
    "photographer, sculptor, mathematician, translator, chef, geologist, conductor"
)
AWARDS = _lines(
    "Harmon Prize, Silver Quill Award, Calder Medal, Northern Arts Prize, Golden Compass, Institute Medal, "
    "Founders Award, Meridian Prize, Lindholm Award"
)
TEAMS = word_list(
    "Hawks Comets Wolves Pilots Rangers Tides Bisons Falcons Miners Sharks Storm Giants Owls Rockets Foxes"
)
